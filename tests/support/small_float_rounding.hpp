#ifndef POSTLUDE_TESTS_SUPPORT_SMALL_FLOAT_ROUNDING_HPP
#define POSTLUDE_TESTS_SUPPORT_SMALL_FLOAT_ROUNDING_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <postlude/data_type.hpp>

#include "reference/small_floats.hpp"

namespace postlude {
namespace test {

/// A binary floating-point format, as IEEE 754 describes one.
struct Format {
  int precision;         ///< bits of the significand, the leading one included
  int minimum_exponent;  ///< the smallest normal number is 2 to this power
  double largest;
};

constexpr Format float16_format = {11, -14, 65504};
constexpr Format bfloat16_format = {8, -126, 0x1.fep127};
constexpr Format float32_format = {24, -126, 0x1.fffffep127};

/// The nearest number of the format, ties to even, by the definition: the nearest multiple of the
/// unit in the last place that numbers of this size have. Scaling by powers of two is exact.
inline double rounded_to(const Format& format, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| is in [2^(exponent - 1), 2^exponent)
  const int unit = std::max(exponent - 1, format.minimum_exponent) - (format.precision - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  if (std::abs(rounded) <= format.largest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

/// The value that is stored for `value` in an element of this dtype.
inline double rounded_to(DataType dtype, double value) {
  switch (dtype) {
    case DataType::float16:
      return rounded_to(float16_format, value);
    case DataType::bfloat16:
      return rounded_to(bfloat16_format, value);
    case DataType::float32:
      return rounded_to(float32_format, value);
    default:
      return value;
  }
}

/// The bits of the nearest number of a 16-bit dtype: found by bisection, since the values of the
/// bit patterns without a sign grow with them.
inline std::uint16_t nearest_bits(DataType dtype, double value) {
  using namespace detail::reference;
  const bool is_float16 = dtype == DataType::float16;
  const std::uint16_t infinity = is_float16 ? 0x7c00 : 0x7f80;
  if (std::isnan(value)) return static_cast<std::uint16_t>(infinity + (is_float16 ? 0x200 : 0x40));
  const double magnitude = std::abs(rounded_to(dtype, value));
  int low = 0;
  int high = infinity;
  while (low < high) {
    const int middle = (low + high) / 2;
    const auto bits = static_cast<std::uint16_t>(middle);
    if ((is_float16 ? from_float16(bits) : from_bfloat16(bits)) < magnitude)
      low = middle + 1;
    else
      high = middle;
  }
  return static_cast<std::uint16_t>(low | (std::signbit(value) ? 0x8000 : 0));
}

}  // namespace test
}  // namespace postlude

#endif
