#ifndef POSTLUDE_SWEEP_SWEEP_LABEL_HPP
#define POSTLUDE_SWEEP_SWEEP_LABEL_HPP

#include <string>

#include <postlude/execution_space.hpp>

namespace postlude {
namespace detail {

/// "postlude::sweep::pointwise[cuda]": the label that profiling tools show.
template <class Space>
std::string sweep_label(const char* kind) {
  return std::string("postlude::sweep::") + kind + "[" + name_of(BackendOf<Space>::value) + "]";
}

}  // namespace detail
}  // namespace postlude

#endif
