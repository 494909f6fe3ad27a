#ifndef POSTLUDE_EVALUATOR_SMALL_FLOATS_HPP
#define POSTLUDE_EVALUATOR_SMALL_FLOATS_HPP

#include <cstdint>
#include <cstring>

#include "evaluator/function.hpp"

namespace postlude {
namespace detail {

/// IEEE 754 binary16, as it is stored.
struct Float16 {
  std::uint16_t bits;
};

/// The upper half of a binary32, as it is stored.
struct BFloat16 {
  std::uint16_t bits;
};

POSTLUDE_FUNCTION std::uint32_t bits_of(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

POSTLUDE_FUNCTION float float_of(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

POSTLUDE_FUNCTION float to_float(Float16 value) {
#if defined(__CUDA_ARCH__)
  float converted;
  asm("cvt.f32.f16 %0, %1;" : "=f"(converted) : "h"(value.bits));
  return converted;
#else
  // The exponent moves by a multiplication, which is exact and normalises subnormals on the way;
  // Inf and NaN keep an exponent of ones.
  const std::uint32_t magnitude = static_cast<std::uint32_t>(value.bits & 0x7fffu) << 13;
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const bool is_special = (value.bits & 0x7c00u) == 0x7c00u;
  const std::uint32_t scaled = bits_of(float_of(magnitude) * 0x1p112f);
  return float_of(sign | (is_special ? magnitude | 0x7f800000u : scaled));
#endif
}

POSTLUDE_FUNCTION float to_float(BFloat16 value) {
  return float_of(static_cast<std::uint32_t>(value.bits) << 16);
}

/// To the nearest, ties to even; overflow gives Inf; a NaN stays a NaN.
POSTLUDE_FUNCTION Float16 to_float16(float value) {
#if defined(__CUDA_ARCH__)
  Float16 converted;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(converted.bits) : "f"(value));
  return converted;
#else
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t result;
  if (magnitude > 0x7f800000u) {
    result = 0x7e00u;
  } else if (magnitude >= 0x47800000u) {
    result = 0x7c00u;
  } else if (magnitude < 0x38800000u) {
    // Below 2^-14: one unit of a sum with 0.5 is one unit of a subnormal, so the addition rounds.
    result = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    result = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | result)};
#endif
}

POSTLUDE_FUNCTION BFloat16 to_bfloat16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  BFloat16 converted;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(converted.bits) : "f"(value));
  return converted;
#else
  const std::uint32_t bits = bits_of(value);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t rounded = is_nan ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
  return {static_cast<std::uint16_t>(rounded >> 16)};
#endif
}

/// A float that rounds to any shorter format as `value` itself would: truncated, with the last bit
/// set when that lost something (round to odd; Boldo and Melquiond, 2008).
POSTLUDE_FUNCTION float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  const std::uint32_t bits = bits_of(nearest);
  if (back == value || value != value || (bits & 1u) != 0) return nearest;
  if ((bits & 0x7f800000u) == 0x7f800000u) return nearest;  // both formats overflow as well
  // An even neighbour was chosen: the odd one is on the other side of the value.
  const bool away = (value < 0 ? -value : value) > (back < 0 ? -back : back);
  return float_of(away ? bits + 1 : bits - 1);
}

/// Conversion between an element in memory and the type of the arithmetic, one rounding at most.
template <class To, class From>
struct Convert {
  POSTLUDE_FUNCTION static To from(From value) { return static_cast<To>(value); }
};
template <class To>
struct Convert<To, Float16> {
  POSTLUDE_FUNCTION static To from(Float16 value) { return static_cast<To>(to_float(value)); }
};
template <class To>
struct Convert<To, BFloat16> {
  POSTLUDE_FUNCTION static To from(BFloat16 value) { return static_cast<To>(to_float(value)); }
};
template <>
struct Convert<Float16, float> {
  POSTLUDE_FUNCTION static Float16 from(float value) { return to_float16(value); }
};
template <>
struct Convert<BFloat16, float> {
  POSTLUDE_FUNCTION static BFloat16 from(float value) { return to_bfloat16(value); }
};
template <>
struct Convert<Float16, double> {
  POSTLUDE_FUNCTION static Float16 from(double value) { return to_float16(round_to_odd(value)); }
};
template <>
struct Convert<BFloat16, double> {
  POSTLUDE_FUNCTION static BFloat16 from(double value) { return to_bfloat16(round_to_odd(value)); }
};

}  // namespace detail
}  // namespace postlude

#endif
