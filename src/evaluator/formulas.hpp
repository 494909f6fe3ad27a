#ifndef POSTLUDE_EVALUATOR_FORMULAS_HPP
#define POSTLUDE_EVALUATOR_FORMULAS_HPP

#include <cmath>
#include <limits>

#include "evaluator/elementary.hpp"
#include "evaluator/function.hpp"

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
template <class T>
POSTLUDE_FUNCTION T min(T a, T b) {
  return a < b || is_nan(a) ? a : b;
}
template <class T>
POSTLUDE_FUNCTION T max(T a, T b) {
  return a > b || is_nan(a) ? a : b;
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
  return T(Elementary<T>::exp(v));
}
template <class T>
POSTLUDE_FUNCTION T expm1(T v) {
  return T(Elementary<T>::expm1(v));
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
  return T(Elementary<T>::tanh(v));
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
  using E = Elementary<T>;
  using W = typename E::Type;
  // exp of a negative number only: no overflow, and small results keep their digits.
  const W e = E::exp(-std::fabs(W(v)));
  return T((v < T(0) ? e : W(1)) / (W(1) + e));
}
template <class T>
POSTLUDE_FUNCTION T silu(T v) {
  using E = Elementary<T>;
  using W = typename E::Type;
  // exp(-|v|) in two halves: it is subnormal, and short of digits, before v * exp(v) is. No branch,
  // since a vector of elements has both signs.
  const W w = v;
  const W half = E::exp(std::fabs(w) * W(-0.5));
  const W numerator = w < W(0) ? w * half : w;
  const W factor = w < W(0) ? half : W(1);
  const W product = numerator * (factor / (W(1) + half * half));
  return T(half == W(0) ? max(w, W(0)) : product);
}
template <class T>
POSTLUDE_FUNCTION T logsigmoid(T v) {
  using E = Elementary<T>;
  using W = typename E::Type;
  const W w = v;
  return T(min(w, W(0)) - E::log1p_of_unit(E::exp(-std::fabs(w))));
}
template <class T>
POSTLUDE_FUNCTION T softplus(T v, T beta, T limit) {
  using E = Elementary<T>;
  using W = typename E::Type;
  const T z = beta * v;
  const W w = z;
  const T soft = T((max(w, W(0)) + E::log1p_of_unit(E::exp(-std::fabs(w)))) / W(beta));
  return z > limit ? v : soft;
}
template <class T>
POSTLUDE_FUNCTION T softsign(T v) {
  const T magnitude = std::fabs(v);
  return magnitude == infinity<T>() ? sign(v) : v / (T(1) + magnitude);
}
template <class T>
POSTLUDE_FUNCTION T elu(T v, T alpha) {
  return v > T(0) ? v : T(typename Elementary<T>::Type(alpha) * Elementary<T>::expm1(v));
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
  using W = typename Elementary<T>::Type;
  const T soft = T(W(alpha) * Elementary<T>::expm1(W(v) / W(alpha)));
  return max(v, T(0)) + min(T(0), soft);
}
template <class T>
POSTLUDE_FUNCTION T gelu(T v) {
  // Hendrycks and Gimpel, Gaussian Error Linear Units, 2016: v Phi(v), which is max(v, 0) less |v|
  // times the tail of the normal distribution beyond |v|. 1 + erf would cancel for negative v.
  using E = Elementary<T>;
  using W = typename E::Type;
  const W magnitude = std::fabs(W(v));
  const W product = vanishing_product(magnitude, E::normal_tail(magnitude));
  return T(max(W(v), W(0)) - product);
}
template <class T>
POSTLUDE_FUNCTION T gelu_tanh(T v) {
  // (1 + tanh(u)) / 2 = sigmoid(2 u), which does not cancel; exp(-2 |u|) in two halves, as in silu.
  using E = Elementary<T>;
  using W = typename E::Type;
  constexpr W twice_sqrt_2_over_pi = W(1.5957691216057307117597842397375);
  const W w = v;
  const W t = twice_sqrt_2_over_pi * (w + W(0.044715) * w * w * w);
  const W half = E::exp(std::fabs(t) * W(-0.5));
  const W numerator = t < W(0) ? w * half : w;
  const W factor = t < W(0) ? half : W(1);
  const W product = numerator * (factor / (W(1) + half * half));
  return T(half == W(0) ? max(w, W(0)) : product);
}
template <class T>
POSTLUDE_FUNCTION T mish(T v) {
  // Misra, Mish, 2019. tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2); above 20 it rounds to 1.
  // exp(v) in two halves, as in silu.
  using E = Elementary<T>;
  using W = typename E::Type;
  const W w = v;
  const W half = E::exp((w > W(20) ? W(20) : w) * W(0.5));
  const W e = half * half;
  const W product = (w * half) * (half * (e + W(2)) / (e * (e + W(2)) + W(2)));
  return T(w > W(20) ? w : (half == W(0) ? W(0) : product));
}
template <class T>
POSTLUDE_FUNCTION T hardsigmoid(T v) {
  return relu6(v + T(3)) / T(6);
}
template <class T>
POSTLUDE_FUNCTION T hardswish(T v) {
  return vanishing_product(v, hardsigmoid(v));
}

}  // namespace formula
}  // namespace detail
}  // namespace postlude

#endif
