#ifndef POSTLUDE_CAPI_BUILDER_HPP
#define POSTLUDE_CAPI_BUILDER_HPP

#include <postlude.h>

#include <postlude/expression.hpp>

#include <cstdint>
#include <vector>

#include "handle.hpp"

namespace postlude {
namespace detail {
namespace capi {

/// What a builder handle stands for: values, of which a postlude_value is the place counted from 1,
/// and the results named so far.
struct BuilderState {
  static constexpr const char* handle_name = "builder";
  static constexpr const char* handle_source = "postlude_builder_create";
  static constexpr std::uint64_t handle_mark = 0x706f73746c626c64;

  std::vector<Expression> values;
  std::vector<Epilogue::Result> results;
};

/// The state of a builder, which Kokkos is not needed for.
BuilderState& builder_of(const postlude_builder* builder);

}  // namespace capi
}  // namespace detail
}  // namespace postlude

struct postlude_builder : postlude::detail::capi::Handle<postlude::detail::capi::BuilderState> {
  using Handle::Handle;
};

#endif
