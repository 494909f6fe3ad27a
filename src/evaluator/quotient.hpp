#ifndef POSTLUDE_EVALUATOR_QUOTIENT_HPP
#define POSTLUDE_EVALUATOR_QUOTIENT_HPP

#include <cstdint>

#include "evaluator/function.hpp"

namespace postlude {
namespace detail {

/// a / b of numbers that are not negative, and usually small: 64-bit division takes tens of
/// instructions.
POSTLUDE_FUNCTION std::int64_t quotient(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t small = 0x7fffffff;
  if (a <= small && b <= small)
    return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}

}  // namespace detail
}  // namespace postlude

#endif
