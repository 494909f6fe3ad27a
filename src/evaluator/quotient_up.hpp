#ifndef POSTLUDE_EVALUATOR_QUOTIENT_UP_HPP
#define POSTLUDE_EVALUATOR_QUOTIENT_UP_HPP

#include <cstdint>

namespace postlude {
namespace detail {

/// dividend / divisor, rounded up: parts of `divisor` that it takes. For a dividend of 0 or more
/// and a divisor above 0, whose sum does not overflow.
constexpr std::int64_t quotient_up(std::int64_t dividend, std::int64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

}  // namespace detail
}  // namespace postlude

#endif
