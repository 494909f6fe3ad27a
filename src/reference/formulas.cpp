#include "reference/formulas.hpp"

#include <cmath>
#include <limits>

namespace postlude {
namespace detail {
namespace reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// One function for each line of the operation table. They are members of a struct so that a line
/// without a formula is a compile error, and not a call of the standard library's function.
///
/// At +-inf an activation has its limit, also where the formula as written is inf/inf or inf*0.
struct Formula {
  static double add(double a, double b) { return a + b; }
  static double subtract(double a, double b) { return a - b; }
  static double multiply(double a, double b) { return a * b; }
  static double divide(double a, double b) { return a / b; }
  static double negate(double a) { return -a; }
  static double power(double a, double b) { return std::pow(a, b); }
  static double less(double a, double b) { return a < b ? 1 : 0; }
  static double less_equal(double a, double b) { return a <= b ? 1 : 0; }
  static double greater(double a, double b) { return a > b ? 1 : 0; }
  static double greater_equal(double a, double b) { return a >= b ? 1 : 0; }
  static double equal(double a, double b) { return a == b ? 1 : 0; }
  static double not_equal(double a, double b) { return a != b ? 1 : 0; }

  static double min(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return not_a_number;
    return std::fmin(a, b);
  }
  static double max(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return not_a_number;
    return std::fmax(a, b);
  }
  static double clamp(double v, double low, double high) { return min(max(v, low), high); }
  static double where(double condition, double a, double b) {
    if (condition == 0) return b;
    return a;
  }
  static double abs(double v) { return std::abs(v); }
  static double sign(double v) {
    if (std::isnan(v)) return not_a_number;
    if (v == 0) return 0;
    return std::copysign(1.0, v);
  }
  static double square(double v) { return std::pow(v, 2); }
  static double sqrt(double v) { return std::sqrt(v); }
  static double rsqrt(double v) { return std::pow(std::sqrt(v), -1); }
  static double reciprocal(double v) { return std::pow(v, -1); }
  static double exp(double v) { return std::exp(v); }
  static double expm1(double v) { return std::expm1(v); }
  static double log(double v) { return std::log(v); }
  static double log1p(double v) { return std::log1p(v); }
  static double sin(double v) { return std::sin(v); }
  static double cos(double v) { return std::cos(v); }
  static double erf(double v) { return std::erf(v); }
  static double tanh(double v) { return std::tanh(v); }
  static double floor(double v) { return std::floor(v); }
  static double ceil(double v) { return std::ceil(v); }
  static double round(double v) {
    if (!std::isfinite(v)) return v;
    // What is left after the nearest even integer has been taken out.
    const double left = std::remainder(v, 1.0);
    const double rounded = v - left;
    const bool is_tie = std::abs(left) == 0.5;
    if (!is_tie) return rounded;
    const double below = std::floor(v);
    return std::fmod(below, 2.0) == 0 ? below : below + 1;
  }

  static double relu(double v) { return max(v, 0); }
  static double leaky_relu(double v, double negative_slope) {
    if (v > 0) return v;
    return negative_slope * v;
  }
  static double relu6(double v) { return clamp(v, 0, 6); }
  static double elu(double v, double alpha) {
    if (v > 0) return v;
    return alpha * std::expm1(v);
  }
  static double selu(double v) {
    return 1.0507009873554804934193349852946 * elu(v, 1.6732632423543772848170429916717);
  }
  static double celu(double v, double alpha) {
    return max(0, v) + min(0, alpha * std::expm1(v / alpha));
  }
  static double gelu(double v) {
    if (v == -infinity) return 0;
    return 0.5 * v * std::erfc(-v / std::sqrt(2.0));
  }
  static double gelu_tanh(double v) {
    if (v == -infinity) return 0;
    const double pi = std::acos(-1.0);
    const double inner = std::sqrt(2 / pi) * (v + 0.044715 * v * v * v);
    // (1 + tanh(u)) / 2 is sigmoid(2u), which does not cancel.
    return v * sigmoid(2 * inner);
  }
  static double silu(double v) {
    if (v == -infinity) return 0;
    return v * sigmoid(v);
  }
  static double sigmoid(double v) {
    // Without an overflow, so that the smallest results keep their digits.
    if (v < 0) return std::exp(v) / (1 + std::exp(v));
    return 1 / (1 + std::exp(-v));
  }
  static double logsigmoid(double v) { return -softplus(-v, 1, infinity); }
  static double softplus(double v, double beta, double threshold) {
    const double scaled = beta * v;
    if (scaled > threshold) return v;
    // log(1 + exp(s)) is s + log(1 + exp(-s)), which does not overflow.
    const double value =
        scaled > 0 ? scaled + std::log1p(std::exp(-scaled)) : std::log1p(std::exp(scaled));
    return value / beta;
  }
  static double softsign(double v) {
    if (std::isinf(v)) return std::copysign(1.0, v);
    return v / (1 + std::abs(v));
  }
  static double mish(double v) {
    if (v == -infinity) return 0;
    return v * std::tanh(softplus(v, 1, infinity));
  }
  static double hardtanh(double v, double low, double high) { return clamp(v, low, high); }
  static double hardswish(double v) {
    if (v <= -3) return 0;
    return v * hardsigmoid(v);
  }
  static double hardsigmoid(double v) { return clamp(v + 3, 0, 6) / 6; }
  static double threshold(double v, double limit, double value) {
    // Written from this side, a NaN stays.
    if (v <= limit) return value;
    return v;
  }
};

double call(double (*formula)(double), const double* inputs) { return formula(inputs[0]); }
double call(double (*formula)(double, double), const double* inputs) {
  return formula(inputs[0], inputs[1]);
}
double call(double (*formula)(double, double, double), const double* inputs) {
  return formula(inputs[0], inputs[1], inputs[2]);
}

}  // namespace

double apply(Operation operation, const double* inputs) {
  switch (operation) {
#define POSTLUDE_CASE(name, arity, signature, formula) \
  case Operation::name:                                \
    return call(&Formula::name, inputs);
    POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_CASE)
    POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
  }
  return not_a_number;
}

}  // namespace reference
}  // namespace detail
}  // namespace postlude
