#ifndef POSTLUDE_EVALUATOR_ELEMENTARY_HPP
#define POSTLUDE_EVALUATOR_ELEMENTARY_HPP

#include <cmath>

#include "evaluator/function.hpp"
#if !defined(POSTLUDE_ON_DEVICE)
#include "evaluator/host_functions.hpp"
#endif

namespace postlude {
namespace detail {

/// The elementary functions that formulas for T are made of, and the type that they are evaluated
/// in: T itself with the library's functions, but float64 for float32 on hosts.
template <class T>
struct Elementary {
  using Type = T;

  POSTLUDE_FUNCTION static T exp(T v) { return std::exp(v); }
  POSTLUDE_FUNCTION static T expm1(T v) { return std::expm1(v); }
  /// log(1 + e) for e from 0 to 1.
  POSTLUDE_FUNCTION static T log1p_of_unit(T e) { return std::log1p(e); }
  POSTLUDE_FUNCTION static T tanh(T v) { return std::tanh(v); }
  /// erfc(v / sqrt(2)) / 2 for v >= 0.
  POSTLUDE_FUNCTION static T normal_tail(T v) {
    constexpr T inverse_sqrt_2 = T(0.70710678118654752440084436210485);
    return T(0.5) * std::erfc(v * inverse_sqrt_2);
  }
};

#if !defined(POSTLUDE_ON_DEVICE)
template <>
struct Elementary<float> {
  using Type = double;

  POSTLUDE_FUNCTION static double exp(double v) { return host_functions::exp(v); }
  POSTLUDE_FUNCTION static double expm1(double v) { return host_functions::expm1(v); }
  POSTLUDE_FUNCTION static double log1p_of_unit(double e) {
    return host_functions::log1p_of_unit(e);
  }
  POSTLUDE_FUNCTION static double tanh(double v) { return host_functions::tanh(v); }
  POSTLUDE_FUNCTION static double normal_tail(double v) { return host_functions::normal_tail(v); }
};
#endif

}  // namespace detail
}  // namespace postlude

#endif
