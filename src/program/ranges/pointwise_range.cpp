#include <algorithm>
#include <cmath>
#include <limits>

#include "program/constant_value.hpp"
#include "program/ranges/value_range.hpp"

namespace postlude {
namespace detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What functions of backends may be off by, in units of the last place: those of GUIDE.md,
/// section 3, with room.
double function_error(DataType arithmetic) {
  return 32 * (arithmetic == DataType::float64
                   ? std::numeric_limits<double>::epsilon()
                   : static_cast<double>(std::numeric_limits<float>::epsilon()));
}

Range limited(Range range, double low, double high) {
  range.low = std::max(range.low, low);
  range.high = std::min(range.high, high);
  return range;
}

/// Only NaN, or nothing at all.
bool is_empty(const Range& range) { return range.low > range.high; }

bool any_nan(const Range& a, const Range& b) { return a.may_be_nan || b.may_be_nan; }

Range add(const Range& a, const Range& b, DataType arithmetic) {
  const bool opposite_infinities =
      (a.low == -infinity && b.high == infinity) || (a.high == infinity && b.low == -infinity);
  Range sum;
  sum.low = a.low + b.low;
  sum.high = a.high + b.high;
  if (std::isnan(sum.low)) sum.low = -infinity;
  if (std::isnan(sum.high)) sum.high = infinity;
  sum.may_be_nan = any_nan(a, b) || opposite_infinities;
  // -0 comes from two of them alone.
  sum.may_be_negative_zero = a.may_be_negative_zero && b.may_be_negative_zero;
  const bool keeps_zero = sum.may_be_negative_zero;
  sum = widened(sum, arithmetic);
  sum.may_be_negative_zero = keeps_zero;  // a sum is not rounded to 0
  return sum;
}

Range negate(const Range& a) { return {-a.high, -a.low, a.may_be_nan, a.has_zero()}; }

Range multiply(const Range& a, const Range& b, DataType arithmetic) {
  Range product;
  product.may_be_nan = any_nan(a, b) || (a.has_zero() && b.may_be_infinite()) ||
                       (b.has_zero() && a.may_be_infinite());
  product.low = infinity;
  product.high = -infinity;
  for (const double u : {a.low, a.high})
    for (const double v : {b.low, b.high}) {
      // The product of an end that is 0 with one that is infinite is 0 for all that is between.
      const double corner = u == 0 || v == 0 ? 0 : u * v;
      product.low = std::min(product.low, corner);
      product.high = std::max(product.high, corner);
    }
  product.may_be_negative_zero = !(a.is_without_sign() && b.is_without_sign());
  return widened(product, arithmetic);
}

Range square(const Range& a, DataType arithmetic) {
  const double nearest = a.has_zero() ? 0 : std::min(std::fabs(a.low), std::fabs(a.high));
  const double farthest = std::max(std::fabs(a.low), std::fabs(a.high));
  return widened(Range::between(nearest * nearest, farthest * farthest, a.may_be_nan), arithmetic);
}

Range reciprocal(const Range& a, DataType arithmetic) {
  if (a.low > 0 || a.high < 0)
    return widened({1 / a.high, 1 / a.low, a.may_be_nan, a.high < 0}, arithmetic);
  if (a.is_without_sign()) return widened({1 / a.high, infinity, a.may_be_nan, false}, arithmetic);
  return {-infinity, infinity, a.may_be_nan, true};
}

Range divide(const Range& a, const Range& b, DataType arithmetic) {
  Range quotient;
  // 0 / 0 and inf / inf are NaN.
  quotient.may_be_nan = any_nan(a, b) || (a.has_zero() && b.has_zero()) ||
                        (a.may_be_infinite() && b.may_be_infinite());
  quotient.may_be_negative_zero = !(a.is_without_sign() && b.is_without_sign());
  const bool is_bounded = (b.low > 0 || b.high < 0) && !b.may_be_infinite();
  if (!is_bounded) {
    if (a.low >= 0 && b.is_without_sign()) quotient.low = 0;
    return quotient;
  }
  quotient.low = infinity;
  quotient.high = -infinity;
  for (const double u : {a.low, a.high})
    for (const double v : {b.low, b.high}) {
      quotient.low = std::min(quotient.low, u / v);
      quotient.high = std::max(quotient.high, u / v);
    }
  return widened(quotient, arithmetic);
}

Range smaller(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high), any_nan(a, b),
          a.may_be_negative_zero || b.may_be_negative_zero};
}

Range larger(const Range& a, const Range& b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high), any_nan(a, b),
          a.may_be_negative_zero || b.may_be_negative_zero};
}

Range clamp(const Range& v, const Range& low, const Range& high) {
  return smaller(larger(v, low), high);
}

Range point(double value) { return {value, value, false, false}; }

/// max(v, 0) gives +0 for -0: it takes its second argument unless the first is larger.
Range relu(const Range& v) {
  Range range = larger(v, point(0));
  range.may_be_negative_zero = false;
  return range;
}

Range either(const Range& a, const Range& b) {
  if (is_empty(a)) return {b.low, b.high, any_nan(a, b), b.may_be_negative_zero};
  if (is_empty(b)) return {a.low, a.high, any_nan(a, b), a.may_be_negative_zero};
  return {std::min(a.low, b.low), std::max(a.high, b.high), any_nan(a, b),
          a.may_be_negative_zero || b.may_be_negative_zero};
}

Range where(const Range& condition, const Range& a, const Range& b) {
  // A NaN condition is not 0, and so chooses a.
  if (condition.low > 0 || condition.high < 0) return a;
  if (condition.low == 0 && condition.high == 0 && !condition.may_be_nan) return b;
  return either(a, b);
}

/// 1 where certain, 0 where impossible, else either. A comparison with NaN is false.
Range truth(bool is_certain, bool is_impossible) {
  return {is_certain ? 1.0 : 0.0, is_impossible ? 0.0 : 1.0, false, false};
}

Range compare(Operation operation, const Range& a, const Range& b) {
  const bool has_nan = any_nan(a, b);
  const bool nothing = is_empty(a) || is_empty(b);  // one of them is always NaN
  switch (operation) {
    case Operation::less:
      return truth(!has_nan && a.high < b.low, nothing || a.low >= b.high);
    case Operation::less_equal:
      return truth(!has_nan && a.high <= b.low, nothing || a.low > b.high);
    case Operation::greater:
      return truth(!has_nan && a.low > b.high, nothing || a.high <= b.low);
    case Operation::greater_equal:
      return truth(!has_nan && a.low >= b.high, nothing || a.high < b.low);
    case Operation::equal:
      return truth(!has_nan && a.low == a.high && b.low == b.high && a.low == b.low,
                   nothing || a.high < b.low || b.high < a.low);
    default:  // not_equal, which is true of NaN
      return truth(nothing || a.high < b.low || b.high < a.low,
                   !has_nan && a.low == a.high && b.low == b.high && a.low == b.low);
  }
}

/// A function that never falls, at both ends, and then no more than its limits.
Range rising(Operation operation, const Range& a, double error, double low, double high,
             DataType arithmetic) {
  if (is_empty(a)) return a;
  double v[3] = {a.low, 0, 0};
  const double first = constant_result(operation, v, arithmetic);
  v[0] = a.high;
  const double last = constant_result(operation, v, arithmetic);
  if (std::isnan(first) || std::isnan(last)) return {low, high, true, true};
  Range range{first, last, a.may_be_nan, true};
  if (error > 0) range = widened(range, arithmetic, error);
  return limited(range, low, high);
}

/// The same for results that are never -0.
Range rising_from_zero(Operation operation, const Range& a, double error, double high,
                       DataType arithmetic) {
  Range range = rising(operation, a, error, 0, high, arithmetic);
  range.may_be_negative_zero = false;
  return range;
}

Range absolute(const Range& a) {
  if (is_empty(a)) return a;
  const double nearest = a.has_zero() ? 0 : std::min(std::fabs(a.low), std::fabs(a.high));
  return Range::between(nearest, std::max(std::fabs(a.low), std::fabs(a.high)), a.may_be_nan);
}

Range sign(const Range& a) {
  const auto sign_of = [](double v) { return v > 0 ? 1.0 : (v < 0 ? -1.0 : 0.0); };
  return {sign_of(a.low), sign_of(a.high), a.may_be_nan, a.may_be_negative_zero};
}

}  // namespace

Range pointwise_range(Operation operation, const Range* v, DataType arithmetic) {
  const double error = function_error(arithmetic);
  const bool is_arithmetic = operation == Operation::add || operation == Operation::subtract ||
                             operation == Operation::multiply || operation == Operation::divide;
  for (int i = 0; i < 2; ++i)
    if (is_arithmetic && is_empty(v[i])) return v[i];  // NaN, whatever the other is
  switch (operation) {
    case Operation::add:
      return add(v[0], v[1], arithmetic);
    case Operation::subtract: {
      Range difference = add(v[0], negate(v[1]), arithmetic);
      // a - b is -0 for -0 - 0 alone.
      difference.may_be_negative_zero = v[0].may_be_negative_zero && v[1].has_zero();
      return difference;
    }
    case Operation::multiply:
      return multiply(v[0], v[1], arithmetic);
    case Operation::divide:
      return divide(v[0], v[1], arithmetic);
    case Operation::negate:
      return is_empty(v[0]) ? v[0] : negate(v[0]);
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
    case Operation::equal:
    case Operation::not_equal:
      return compare(operation, v[0], v[1]);
    case Operation::min:
      return smaller(v[0], v[1]);
    case Operation::max:
      return larger(v[0], v[1]);
    case Operation::clamp:
    case Operation::hardtanh:
      return clamp(v[0], v[1], v[2]);
    case Operation::where:
      return where(v[0], v[1], v[2]);
    case Operation::threshold:
      return either(v[0], v[2]);
    case Operation::relu:
      return relu(v[0]);
    case Operation::relu6:
      return smaller(relu(v[0]), point(6));
    case Operation::abs:
      return absolute(v[0]);
    case Operation::sign:
      return is_empty(v[0]) ? v[0] : sign(v[0]);
    case Operation::square:
      return is_empty(v[0]) ? v[0] : square(v[0], arithmetic);
    case Operation::reciprocal:
      return is_empty(v[0]) ? v[0] : reciprocal(v[0], arithmetic);
    case Operation::sqrt:
      if (v[0].low >= 0)
        return {std::max(0.0, std::sqrt(v[0].low) * (1 - error)),
                std::sqrt(v[0].high) * (1 + error), v[0].may_be_nan, v[0].may_be_negative_zero};
      return {0, infinity, true, true};
    case Operation::rsqrt:
      if (v[0].is_without_sign()) return Range::between(0, infinity, v[0].may_be_nan);
      return {-infinity, infinity, true, true};
    case Operation::exp:
      return rising_from_zero(operation, v[0], error, infinity, arithmetic);
    case Operation::sigmoid:
    case Operation::hardsigmoid:
      return rising_from_zero(operation, v[0], error, 1, arithmetic);
    case Operation::expm1:
      return rising(operation, v[0], error, -1, infinity, arithmetic);
    case Operation::erf:
    case Operation::tanh:
    case Operation::softsign:
      return rising(operation, v[0], error, -1, 1, arithmetic);
    case Operation::floor:
    case Operation::ceil:
    case Operation::round:
      return rising(operation, v[0], 0, -infinity, infinity, arithmetic);
    case Operation::sin:
    case Operation::cos:
      return {-1, 1, v[0].may_be_nan || v[0].may_be_infinite(), true};
    case Operation::logsigmoid:
      return {-infinity, 0, v[0].may_be_nan, true};
    // Their least values are -0.17, -0.28, -0.31 and -0.375.
    case Operation::gelu:
    case Operation::gelu_tanh:
    case Operation::silu:
    case Operation::mish:
    case Operation::hardswish:
      return widened({v[0].low >= 0 ? 0.0 : -0.4, std::max(v[0].high, 0.0), v[0].may_be_nan, true},
                     arithmetic, error);
    case Operation::leaky_relu:
    case Operation::elu:
      // v where v > 0, whatever the other parameter is.
      if (v[0].low > 0) return v[0];
      return Range::everything();
    default:
      return Range::everything();
  }
}

}  // namespace detail
}  // namespace postlude
