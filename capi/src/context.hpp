#ifndef POSTLUDE_CAPI_CONTEXT_HPP
#define POSTLUDE_CAPI_CONTEXT_HPP

#include <postlude.h>

#include <cstdint>
#include <memory>

#include "device.hpp"
#include "handle.hpp"

namespace postlude {
namespace detail {
namespace capi {

/// What a context handle stands for. Plans share it, so that it outlives the handle when they do.
struct ContextState {
  static constexpr const char* handle_name = "context";
  static constexpr const char* handle_source = "postlude_context_create";
  static constexpr std::uint64_t handle_mark = 0x706f73746c637478;

  std::unique_ptr<Device> device;
  bool stages_host_memory = false;  ///< and the device has a memory of its own
};

}  // namespace capi
}  // namespace detail
}  // namespace postlude

struct postlude_context : postlude::detail::capi::Handle<postlude::detail::capi::ContextState> {
  using Handle::Handle;
};

#endif
