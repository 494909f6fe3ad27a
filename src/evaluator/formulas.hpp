#ifndef POSTLUDE_EVALUATOR_FORMULAS_HPP
#define POSTLUDE_EVALUATOR_FORMULAS_HPP

#include <cmath>
#include <limits>

#include "evaluator/function.hpp"
#if !defined(POSTLUDE_ON_DEVICE)
#include "evaluator/host_functions.hpp"
#endif

namespace postlude {
namespace detail {

/// The formula of every operation of the table, for T = float or double: `formula::name(a, b, c)`.
///
/// Written so that nothing overflows, cancels or turns NaN where the true value is representable,
/// and NaN comes out wherever it goes in.
namespace formula {

template <class T>
POSTLUDE_FUNCTION T infinity() {
#if defined(__CUDA_ARCH__)
  // Device code may not call the standard library's constexpr functions.
  return static_cast<T>(__int_as_float(0x7f800000));
#else
  return std::numeric_limits<T>::infinity();
#endif
}

template <class T>
POSTLUDE_FUNCTION bool is_nan(T v) {
  return v != v;
}

// Operators.
template <class T>
POSTLUDE_FUNCTION T add(T a, T b) {
  return a + b;
}
template <class T>
POSTLUDE_FUNCTION T subtract(T a, T b) {
  return a - b;
}
template <class T>
POSTLUDE_FUNCTION T multiply(T a, T b) {
  return a * b;
}
template <class T>
POSTLUDE_FUNCTION T divide(T a, T b) {
  return a / b;
}
template <class T>
POSTLUDE_FUNCTION T negate(T a) {
  return -a;
}
template <class T>
POSTLUDE_FUNCTION T power(T a, T b) {
  return std::pow(a, b);
}
template <class T>
POSTLUDE_FUNCTION T less(T a, T b) {
  return a < b ? T(1) : T(0);
}
template <class T>
POSTLUDE_FUNCTION T less_equal(T a, T b) {
  return a <= b ? T(1) : T(0);
}
template <class T>
POSTLUDE_FUNCTION T greater(T a, T b) {
  return a > b ? T(1) : T(0);
}
template <class T>
POSTLUDE_FUNCTION T greater_equal(T a, T b) {
  return a >= b ? T(1) : T(0);
}
template <class T>
POSTLUDE_FUNCTION T equal(T a, T b) {
  return a == b ? T(1) : T(0);
}
template <class T>
POSTLUDE_FUNCTION T not_equal(T a, T b) {
  return a != b ? T(1) : T(0);
}

// Selection. A comparison with NaN is false, so each order below is the one that lets NaN through.
// b is looked at last: a compiler that can tell from one choice how the next one ends, as in clamp,
// makes branches of them.
template <class T>
POSTLUDE_FUNCTION T min(T a, T b) {
  const T smaller = b <= a ? b : a;
  return is_nan(b) ? b : smaller;
}
template <class T>
POSTLUDE_FUNCTION T max(T a, T b) {
  const T larger = b >= a ? b : a;
  return is_nan(b) ? b : larger;
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// One instruction instead of three; any NaN gives a NaN (PTX ISA, min and max with .NaN).
template <>
POSTLUDE_FUNCTION float min<float>(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
template <>
POSTLUDE_FUNCTION float max<float>(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
#endif
template <class T>
POSTLUDE_FUNCTION T clamp(T v, T low, T high) {
  return min(max(v, low), high);
}
template <class T>
POSTLUDE_FUNCTION T where(T condition, T a, T b) {
  return condition != T(0) ? a : b;
}
template <class T>
POSTLUDE_FUNCTION T threshold(T v, T limit, T value) {
  return v <= limit ? value : v;
}
template <class T>
POSTLUDE_FUNCTION T relu(T v) {
  return max(v, T(0));
}
template <class T>
POSTLUDE_FUNCTION T leaky_relu(T v, T negative_slope) {
  return v > T(0) ? v : negative_slope * v;
}
template <class T>
POSTLUDE_FUNCTION T relu6(T v) {
  return clamp(v, T(0), T(6));
}
template <class T>
POSTLUDE_FUNCTION T hardtanh(T v, T low, T high) {
  return clamp(v, low, high);
}

// Elementary functions.
template <class T>
POSTLUDE_FUNCTION T abs(T v) {
  return std::fabs(v);
}
template <class T>
POSTLUDE_FUNCTION T sign(T v) {
  return v > T(0) ? T(1) : (v < T(0) ? T(-1) : v);
}
template <class T>
POSTLUDE_FUNCTION T square(T v) {
  return v * v;
}
template <class T>
POSTLUDE_FUNCTION T sqrt(T v) {
  return std::sqrt(v);
}
template <class T>
POSTLUDE_FUNCTION T rsqrt(T v) {
  return T(1) / std::sqrt(v);
}
template <class T>
POSTLUDE_FUNCTION T reciprocal(T v) {
  return T(1) / v;
}
template <class T>
POSTLUDE_FUNCTION T exp(T v) {
  return std::exp(v);
}
template <class T>
POSTLUDE_FUNCTION T expm1(T v) {
  return std::expm1(v);
}
/// exp(a - b) for a <= b, as a term of a sum.
template <class T>
POSTLUDE_FUNCTION double exp_of_difference(T a, T b) {
  return static_cast<double>(std::exp(a - b));
}
template <class T>
POSTLUDE_FUNCTION T log(T v) {
  return std::log(v);
}
template <class T>
POSTLUDE_FUNCTION T log1p(T v) {
  return std::log1p(v);
}
template <class T>
POSTLUDE_FUNCTION T sin(T v) {
  return std::sin(v);
}
template <class T>
POSTLUDE_FUNCTION T cos(T v) {
  return std::cos(v);
}
template <class T>
POSTLUDE_FUNCTION T erf(T v) {
  return std::erf(v);
}
template <class T>
POSTLUDE_FUNCTION T tanh(T v) {
  return std::tanh(v);
}
template <class T>
POSTLUDE_FUNCTION T floor(T v) {
  return std::floor(v);
}
template <class T>
POSTLUDE_FUNCTION T ceil(T v) {
  return std::ceil(v);
}
template <class T>
POSTLUDE_FUNCTION T round(T v) {
  return std::rint(v);
}

/// v * weight for a weight that vanishes as v goes to -inf: 0 there, where the product is NaN.
template <class T>
POSTLUDE_FUNCTION T vanishing_product(T v, T weight) {
  return weight == T(0) ? T(0) : v * weight;
}

// Activations.
template <class T>
POSTLUDE_FUNCTION T sigmoid(T v) {
  // exp of a negative number only: no overflow, and small results keep their digits.
  const T e = std::exp(-std::fabs(v));
  return (v < T(0) ? e : T(1)) / (T(1) + e);
}
template <class T>
POSTLUDE_FUNCTION T silu(T v) {
  // exp(-|v|) in two halves: it is subnormal, and short of digits, before v * exp(v) is. No branch,
  // since a vector of elements has both signs.
  const T half = std::exp(std::fabs(v) * T(-0.5));
  const T numerator = v < T(0) ? v * half : v;
  const T factor = v < T(0) ? half : T(1);
  const T product = numerator * (factor / (T(1) + half * half));
  return half == T(0) ? max(v, T(0)) : product;
}
template <class T>
POSTLUDE_FUNCTION T logsigmoid(T v) {
  return min(v, T(0)) - std::log1p(std::exp(-std::fabs(v)));
}
template <class T>
POSTLUDE_FUNCTION T softplus(T v, T beta, T limit) {
  const T z = beta * v;
  const T soft = (max(z, T(0)) + std::log1p(std::exp(-std::fabs(z)))) / beta;
  return z > limit ? v : soft;
}
template <class T>
POSTLUDE_FUNCTION T softsign(T v) {
  const T magnitude = std::fabs(v);
  return magnitude == infinity<T>() ? sign(v) : v / (T(1) + magnitude);
}
template <class T>
POSTLUDE_FUNCTION T elu(T v, T alpha) {
  return v > T(0) ? v : alpha * std::expm1(v);
}
template <class T>
POSTLUDE_FUNCTION T selu(T v) {
  // Klambauer et al., Self-Normalizing Neural Networks, 2017.
  constexpr T scale = T(1.0507009873554804934193349852946);
  constexpr T alpha = T(1.6732632423543772848170429916717);
  return scale * elu(v, alpha);
}
template <class T>
POSTLUDE_FUNCTION T celu(T v, T alpha) {
  const T soft = alpha * std::expm1(v / alpha);
  return max(v, T(0)) + min(T(0), soft);
}
template <class T>
POSTLUDE_FUNCTION T gelu(T v) {
  // Hendrycks and Gimpel, Gaussian Error Linear Units, 2016: v Phi(v), which is max(v, 0) less |v|
  // times the tail of the normal distribution beyond |v|. 1 + erf would cancel for negative v.
  constexpr T inverse_sqrt_2 = T(0.70710678118654752440084436210485);
  const T magnitude = std::fabs(v);
  const T tail = T(0.5) * std::erfc(magnitude * inverse_sqrt_2);
  return max(v, T(0)) - vanishing_product(magnitude, tail);
}
template <class T>
POSTLUDE_FUNCTION T gelu_tanh(T v) {
  // (1 + tanh(u)) / 2 = sigmoid(2 u), which does not cancel; exp(-2 |u|) in two halves, as in silu.
  constexpr T twice_sqrt_2_over_pi = T(1.5957691216057307117597842397375);
  const T t = twice_sqrt_2_over_pi * (v + T(0.044715) * v * v * v);
  const T half = std::exp(std::fabs(t) * T(-0.5));
  const T numerator = t < T(0) ? v * half : v;
  const T factor = t < T(0) ? half : T(1);
  const T product = numerator * (factor / (T(1) + half * half));
  return half == T(0) ? max(v, T(0)) : product;
}
template <class T>
POSTLUDE_FUNCTION T mish(T v) {
  // Misra, Mish, 2019. tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2); above 20 it rounds to 1.
  // exp(v) in two halves, as in silu.
  const T half = std::exp((v > T(20) ? T(20) : v) * T(0.5));
  const T e = half * half;
  const T product = (v * half) * (half * (e + T(2)) / (e * (e + T(2)) + T(2)));
  return v > T(20) ? v : (half == T(0) ? T(0) : product);
}
template <class T>
POSTLUDE_FUNCTION T hardsigmoid(T v) {
  return relu6(v + T(3)) / T(6);
}
template <class T>
POSTLUDE_FUNCTION T hardswish(T v) {
  return vanishing_product(v, hardsigmoid(v));
}

#if !defined(POSTLUDE_ON_DEVICE)
// Float32 on hosts.
template <>
POSTLUDE_FUNCTION float exp<float>(float v) {
  return host_functions::exp(v);
}
template <>
POSTLUDE_FUNCTION double exp_of_difference<float>(float a, float b) {
  return host_functions::exp_of_negative(static_cast<double>(a) - static_cast<double>(b));
}
template <>
POSTLUDE_FUNCTION float expm1<float>(float v) {
  return host_functions::expm1(v);
}
template <>
POSTLUDE_FUNCTION float tanh<float>(float v) {
  return host_functions::tanh(v);
}
template <>
POSTLUDE_FUNCTION float sigmoid<float>(float v) {
  return host_functions::sigmoid(v);
}
template <>
POSTLUDE_FUNCTION float silu<float>(float v) {
  return host_functions::silu(v);
}
template <>
POSTLUDE_FUNCTION float logsigmoid<float>(float v) {
  return host_functions::logsigmoid(v);
}
template <>
POSTLUDE_FUNCTION float gelu<float>(float v) {
  return host_functions::gelu(v);
}
template <>
POSTLUDE_FUNCTION float gelu_tanh<float>(float v) {
  return host_functions::gelu_tanh(v);
}
template <>
POSTLUDE_FUNCTION float mish<float>(float v) {
  return host_functions::mish(v);
}
template <>
POSTLUDE_FUNCTION float softplus<float>(float v, float beta, float limit) {
  return host_functions::softplus(v, beta, limit);
}
template <>
POSTLUDE_FUNCTION float elu<float>(float v, float alpha) {
  return host_functions::elu(v, alpha);
}
template <>
POSTLUDE_FUNCTION float celu<float>(float v, float alpha) {
  return host_functions::celu(v, alpha);
}
#endif

}  // namespace formula
}  // namespace detail
}  // namespace postlude

#endif
