#include "small_floats.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace postlude {
namespace cli {
namespace {

constexpr std::uint32_t float32_infinity = 0x7f800000;
constexpr std::uint32_t float32_implicit_bit = 0x00800000;
constexpr int float32_bias = 127;
constexpr int float32_fraction_bits = 23;

constexpr std::uint32_t float16_infinity = 0x7c00;
constexpr std::uint32_t float16_nan = 0x7e00;
constexpr int float16_bias = 15;
constexpr int float16_fraction_bits = 10;
constexpr int float16_largest_exponent = 15;
constexpr int float16_smallest_exponent = -14;

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// value / 2^count, rounded to the nearest integer, ties to even; 0 < count < 32.
std::uint32_t rounded_shift(std::uint32_t value, int count) {
  const std::uint32_t half = std::uint32_t{1} << (count - 1);
  const std::uint32_t rest = value & (2 * half - 1);
  const std::uint32_t kept = value >> count;
  const bool is_up = rest > half || (rest == half && kept % 2 == 1);
  return kept + (is_up ? 1 : 0);
}

// Of a number that is not negative.
std::uint32_t float16_magnitude(std::uint32_t bits) {
  if (bits > float32_infinity) return float16_nan;
  const int exponent = static_cast<int>(bits >> float32_fraction_bits) - float32_bias;
  if (exponent > float16_largest_exponent) return float16_infinity;
  if (exponent >= float16_smallest_exponent) {
    // A carry out of the fraction goes to the exponent, and from the largest one to infinity.
    const auto rebias = static_cast<std::uint32_t>(float32_bias - float16_bias);
    return rounded_shift(bits - (rebias << float32_fraction_bits),
                         float32_fraction_bits - float16_fraction_bits);
  }
  // Subnormal: a multiple of 2^-24. The significand, 24 bits, counts units of 2^(exponent - 23).
  const int dropped_bits = -1 - exponent;
  if (dropped_bits > 24) return 0;  // less than half a unit
  const std::uint32_t fraction = bits & (float32_implicit_bit - 1);
  return rounded_shift(fraction | float32_implicit_bit, dropped_bits);
}

}  // namespace

std::uint16_t float16_of(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t sign = bits >> 31;
  return static_cast<std::uint16_t>(sign << 15 | float16_magnitude(bits & 0x7fffffff));
}

std::uint16_t bfloat16_of(float value) {
  const std::uint32_t bits = bits_of(value);
  // The upper half of a NaN may be that of an infinity: the quiet bit keeps it a NaN.
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>(rounded_shift(bits, 16));
}

float value_of_float16(std::uint16_t bits) {
  const int exponent = bits >> float16_fraction_bits & 0x1f;
  const int fraction = bits & 0x3ff;
  float magnitude = 0;
  if (exponent == 0x1f)
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  else
    magnitude = std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace cli
}  // namespace postlude
