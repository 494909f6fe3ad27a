#ifndef POSTLUDE_CAPI_WEIGHTS_HPP
#define POSTLUDE_CAPI_WEIGHTS_HPP

#include <postlude.h>

#include <postlude/prepared_weights.hpp>

#include <cstdint>
#include <memory>
#include <utility>

#include "context.hpp"
#include "handle.hpp"

namespace postlude {
namespace detail {
namespace capi {

/// What a weights handle stands for.
class WeightsState {
 public:
  static constexpr const char* handle_name = "weights";
  static constexpr const char* handle_source = "postlude_weights_create";
  static constexpr std::uint64_t handle_mark = 0x706f73746c776774;

  WeightsState(std::shared_ptr<ContextState> context, PreparedWeights weights)
      : context_(std::move(context)), weights_(std::move(weights)) {}
  /// Waits for work that may still use the weights.
  ~WeightsState();

  const std::shared_ptr<ContextState>& context() const { return context_; }
  const PreparedWeights& weights() const { return weights_; }
  PreparedWeights& weights() { return weights_; }

 private:
  std::shared_ptr<ContextState> context_;
  PreparedWeights weights_;
};

}  // namespace capi
}  // namespace detail
}  // namespace postlude

struct postlude_weights : postlude::detail::capi::Handle<postlude::detail::capi::WeightsState> {
  using Handle::Handle;
};

#endif
