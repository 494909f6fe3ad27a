#include "reference/small_floats.hpp"

#include <cmath>
#include <limits>

namespace postlude {
namespace detail {
namespace reference {
namespace {

/// Sign, `exponent_bits` of exponent and `fraction_bits` of fraction, by the definition of IEEE
/// 754.
double decode(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int sign = bits >> 15 != 0 ? -1 : 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

}  // namespace

double from_float16(std::uint16_t bits) { return decode(bits, 5, 10); }
double from_bfloat16(std::uint16_t bits) { return decode(bits, 8, 7); }

}  // namespace reference
}  // namespace detail
}  // namespace postlude
