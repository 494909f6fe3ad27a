#ifndef POSTLUDE_EVALUATOR_HOST_FUNCTIONS_HPP
#define POSTLUDE_EVALUATOR_HOST_FUNCTIONS_HPP

#include <cmath>
#include <cstdint>
#include <cstring>

#include "evaluator/function.hpp"

namespace postlude {
namespace detail {

/// Formulas for float32 on hosts, evaluated in float64 and exact enough that the result is the
/// nearest float32 or, rarely, its neighbour. Without branches and calls, so that a loop over
/// elements becomes SIMD instructions: some ten times as fast as a call for each element.
///
/// What they avoid, since it costs most there: comparisons in front of a formula, which compilers
/// turn into paths and those into masks, so arguments are limited as whole numbers and NaN is taken
/// from the argument at the end; and a second division.
///
/// The polynomials are fits of the least relative error at Chebyshev points.
namespace host_functions {

template <class To, class From>
POSTLUDE_FUNCTION To same_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "");
  To result = 0;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

/// exp(-extreme) is 8e-53: nothing in float32, even times `extreme`.
constexpr float extreme = 120;

/// |v|, but not above `limit`; of NaN the limit. Bits of positive numbers are ordered as they are.
POSTLUDE_FUNCTION float magnitude_within(float v, float limit) {
  const std::int32_t bits = same_bits<std::int32_t>(v) & 0x7fffffff;
  const std::int32_t highest = same_bits<std::int32_t>(limit);
  return same_bits<float>(bits < highest ? bits : highest);
}
/// v, but not below -extreme; of NaN any number or NaN. Unsigned, the bits of negative numbers are
/// above those of positive ones, and ordered as their magnitudes are.
POSTLUDE_FUNCTION float not_below_extreme(float v) {
  const std::uint32_t bits = same_bits<std::uint32_t>(v);
  const std::uint32_t lowest = same_bits<std::uint32_t>(-extreme);
  return same_bits<float>(bits < lowest ? bits : lowest);
}
/// v, but not above a positive `limit`; of NaN any number or NaN.
POSTLUDE_FUNCTION float not_above(float v, float limit) {
  const std::int32_t bits = same_bits<std::int32_t>(v);
  const std::int32_t highest = same_bits<std::int32_t>(limit);
  return same_bits<float>(bits < highest ? bits : highest);
}
/// v, but neither below -extreme nor above extreme; of NaN any number or NaN.
POSTLUDE_FUNCTION float within_extremes(float v) {
  return not_above(not_below_extreme(v), extreme);
}

/// exp(v) = power * (1 + rest): a power of two, and a rest from -0.3 to 0.42, 0 for v = 0.
struct Exponential {
  std::uint64_t exponent;  ///< of the power, where a float64 has it: add it to another's bits
  double rest;             ///< relative error 3e-10
};

/// Of |v| at most 708.
POSTLUDE_FUNCTION Exponential split_exp(double v) {
  constexpr double log2_e = 1.44269504088896340736;
  // Adding it leaves the nearest whole number in the low bits of the sum.
  constexpr double magic = 6755399441055744.0;
  const double shifted = v * log2_e + magic;
  const double r = v * log2_e - (shifted - magic);
  double p = 1.5252649878919068e-05;
  p = p * r + 0.00015461329626678482;
  p = p * r + 0.0013333669713153492;
  p = p * r + 0.009618057037848253;
  p = p * r + 0.05550410727352847;
  p = p * r + 0.24022650920046432;
  p = p * r + 0.6931471805816029;
  return {same_bits<std::uint64_t>(shifted) << 52, p * r};
}

/// exp(v) of |v| at most 708, relative error 1e-10.
POSTLUDE_FUNCTION double exp_within(double v) {
  const Exponential e = split_exp(v);
  return same_bits<double>(same_bits<std::uint64_t>(1 + e.rest) + e.exponent);
}
/// exp(v) - 1 of |v| at most 708, relative error 3e-10.
POSTLUDE_FUNCTION double expm1_within(double v) {
  const Exponential e = split_exp(v);
  const double power = same_bits<double>(same_bits<std::uint64_t>(1.0) + e.exponent);
  return power * e.rest - (1 - power);  // -0 of -0
}

/// log(1 + e) for e from 0 to 1, relative error 1e-10: 2 atanh(e / (2 + e)).
POSTLUDE_FUNCTION double log1p_of_unit(double e) {
  const double s = e / (2 + e);
  const double q = s * s;
  double p = 0.2441295454201267;
  p = p * q + 0.21393282201885794;
  p = p * q + 0.2862071903830411;
  p = p * q + 0.3999869102487364;
  p = p * q + 0.6666667930574173;
  p = p * q + 1.999999999802849;
  return s * p;
}

/// exp(v) of a float64 v <= 0, for sums of such: exp(-708), 3e-308, below that.
POSTLUDE_FUNCTION double exp_of_negative(double v) {
  const std::uint64_t bits = same_bits<std::uint64_t>(v);
  const std::uint64_t lowest = same_bits<std::uint64_t>(-708.0);
  return exp_within(same_bits<double>(bits < lowest ? bits : lowest));
}

POSTLUDE_FUNCTION float exp(float v) {
  const double result = exp_within(static_cast<double>(within_extremes(v)));
  return v != v ? v : static_cast<float>(result);
}
POSTLUDE_FUNCTION float expm1(float v) {
  const double result = expm1_within(static_cast<double>(within_extremes(v)));
  return v != v ? v : static_cast<float>(result);
}

POSTLUDE_FUNCTION float tanh(float v) {
  const double x = expm1_within(static_cast<double>(magnitude_within(v, 20)) * -2);
  const float result = static_cast<float>(-x / (2 + x));
  return v != v ? v : std::copysign(result, v);
}

POSTLUDE_FUNCTION float sigmoid(float v) {
  const double inside = static_cast<double>(within_extremes(v));
  const double result = 1 / (1 + exp_within(-inside));
  return v != v ? v : static_cast<float>(result);
}

POSTLUDE_FUNCTION float silu(float v) {
  const float low = not_below_extreme(v);
  const double inside = static_cast<double>(not_above(low, extreme));
  const double result = static_cast<double>(low) / (1 + exp_within(-inside));
  return v != v ? v : static_cast<float>(result);
}

POSTLUDE_FUNCTION float logsigmoid(float v) {
  const double e = exp_within(-static_cast<double>(magnitude_within(v, extreme)));
  return static_cast<float>(static_cast<double>(v > 0 ? 0 : v) - log1p_of_unit(e));
}

POSTLUDE_FUNCTION float softplus(float v, float beta, float limit) {
  const float z = beta * v;
  const double e = exp_within(-static_cast<double>(magnitude_within(z, 700)));
  const double soft = static_cast<double>(z < 0 ? 0 : z) + log1p_of_unit(e);
  return z > limit ? v : static_cast<float>(soft / static_cast<double>(beta));
}

POSTLUDE_FUNCTION float elu(float v, float alpha) {
  const double below = expm1_within(static_cast<double>(not_below_extreme(v)));
  return v <= 0 ? static_cast<float>(static_cast<double>(alpha) * below) : v;
}

POSTLUDE_FUNCTION float celu(float v, float alpha) {
  const double quotient = static_cast<double>(v) / static_cast<double>(alpha);
  const double inside = quotient < -708 ? -708 : quotient;
  // Of a large quotient, where alpha is negative, and of NaN: that times infinity.
  const double curve = inside < 708 ? expm1_within(inside) : inside * HUGE_VAL;
  const float soft = static_cast<float>(static_cast<double>(alpha) * curve);
  return (v < 0 ? 0 : v) + (soft >= 0 ? 0 : soft);
}

POSTLUDE_FUNCTION float gelu(float v) {
  // The tail of the normal distribution is exp(-v^2 / 2) times a ratio of polynomials, to 1e-10.
  const double m = static_cast<double>(magnitude_within(v, 15));
  double p = 0.0008635823290505363;
  p = p * m + 0.01139361340410326;
  p = p * m + 0.07019957108720924;
  p = p * m + 0.24794965606691663;
  p = p * m + 0.504582731339839;
  p = p * m + 0.5;
  double q = 0.0021646833183927975;
  q = q * m + 0.02855933227616212;
  q = q * m + 0.17813529277037718;
  q = q * m + 0.6499670088051792;
  q = q * m + 1.437716722993444;
  q = q * m + 1.8070500169713115;
  q = q * m + 1.0;
  const double tail = exp_within(m * m * -0.5) * p / q;
  return static_cast<float>(static_cast<double>(v <= 0 ? 0 : v) - m * tail);  // 0 of -0
}

POSTLUDE_FUNCTION float gelu_tanh(float v) {
  constexpr double twice_sqrt_2_over_pi = 1.5957691216057307117597842397375;
  const double m = static_cast<double>(magnitude_within(v, 20));
  const double e =
      exp_within(m * (m * m * (-0.044715 * twice_sqrt_2_over_pi) - twice_sqrt_2_over_pi));
  const double numerator = v < 0 ? -m * e : static_cast<double>(v);
  return static_cast<float>(numerator / (1 + e));
}

POSTLUDE_FUNCTION float mish(float v) {
  const float low = not_below_extreme(v);
  const double e = exp_within(static_cast<double>(not_above(low, 20)));
  const double n = e * (e + 2);
  const double result = static_cast<double>(low) * n / (n + 2);
  return v != v ? v : static_cast<float>(result);
}

}  // namespace host_functions
}  // namespace detail
}  // namespace postlude

#endif
