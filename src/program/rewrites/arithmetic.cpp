#include <cmath>
#include <limits>

#include "program/constant_value.hpp"
#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {
namespace {

// Every rule here gives the same bits by IEEE 754: the exact value of both sides is the same before
// the one rounding, and zeros get the same sign. What looks alike and is not: v + 0 turns -0 into 0
// (unless v cannot be -0); 0 - v is 0 for v = 0, and -v is -0; v * 0 and v - v are NaN for
// infinities; -(a - b) is -0 for a = b, and b - a is 0.

std::optional<Replacement> simplify_sum(RewriteBuilder& b, const Value& sum) {
  const int left = sum.inputs[0];
  const int right = sum.inputs[1];
  // Proof: v + -0 = v for all v, -0 + -0 = -0 included. v + 0 = v unless v is -0.
  for (const auto& [v, other] : {std::pair{left, right}, std::pair{right, left}}) {
    if (b.is_constant(other, -0.0)) return Replacement{v, "v + -0 is v"};
    if (b.is_constant(other, 0.0) && !b.range(v).may_be_negative_zero)
      return Replacement{v, "v + 0 is v, since v cannot be -0"};
  }
  // Proof: IEEE 754 defines a - b as a + (-b), and a sum does not depend on the order of two.
  if (b.is(right, Operation::negate))
    return Replacement{b.pointwise(Operation::subtract, {left, b.value(right).inputs[0]}),
                       "a + (-b) is a - b"};
  if (b.is(left, Operation::negate))
    return Replacement{b.pointwise(Operation::subtract, {right, b.value(left).inputs[0]}),
                       "(-a) + b is b - a"};
  return std::nullopt;
}

std::optional<Replacement> simplify_difference(RewriteBuilder& b, const Value& difference) {
  const int left = difference.inputs[0];
  const int right = difference.inputs[1];
  // Proof: v - 0 = v + -0. v - -0 = v + 0.
  if (b.is_constant(right, 0.0)) return Replacement{left, "v - 0 is v"};
  if (b.is_constant(right, -0.0) && !b.range(left).may_be_negative_zero)
    return Replacement{left, "v - -0 is v, since v cannot be -0"};
  if (b.is(right, Operation::negate))
    return Replacement{b.pointwise(Operation::add, {left, b.value(right).inputs[0]}),
                       "a - (-b) is a + b"};
  return std::nullopt;
}

std::optional<Replacement> simplify_product(RewriteBuilder& b, const Value& product) {
  const int left = product.inputs[0];
  const int right = product.inputs[1];
  for (const auto& [v, other] : {std::pair{left, right}, std::pair{right, left}}) {
    if (b.is_constant(other, 1)) return Replacement{v, "v * 1 is v"};
    // Proof: the sign of a product is that of its factors, of zeros and infinities too.
    if (b.is_constant(other, -1))
      return Replacement{b.pointwise(Operation::negate, {v}), "v * -1 is -v"};
  }
  if (b.is(left, Operation::negate) && b.is(right, Operation::negate))
    return Replacement{
        b.pointwise(Operation::multiply, {b.value(left).inputs[0], b.value(right).inputs[0]}),
        "(-a) * (-b) is a * b"};
  if (left == right)
    return Replacement{b.pointwise(Operation::square, {left}), "v * v is square(v)"};
  return std::nullopt;
}

/// A power of two whose reciprocal is a normal number too.
bool has_exact_reciprocal(double number, DataType arithmetic) {
  int exponent = 0;
  if (number == 0 || !std::isfinite(number) || std::fabs(std::frexp(number, &exponent)) != 0.5)
    return false;
  const int limit = arithmetic == DataType::float64 ? std::numeric_limits<double>::max_exponent
                                                    : std::numeric_limits<float>::max_exponent;
  return std::abs(exponent) < limit - 4;
}

std::optional<Replacement> simplify_quotient(RewriteBuilder& b, const Value& quotient) {
  const int left = quotient.inputs[0];
  const int right = quotient.inputs[1];
  if (b.is_constant(right, 1)) return Replacement{left, "v / 1 is v"};
  if (b.is_constant(right, -1))
    return Replacement{b.pointwise(Operation::negate, {left}), "v / -1 is -v"};
  // Proof: v / 2^k and v * 2^-k are the same real number before they are rounded.
  const std::optional<double> divisor = b.constant_of(right);
  if (divisor && has_exact_reciprocal(*divisor, b.arithmetic()))
    return Replacement{b.pointwise(Operation::multiply, {left, b.constant(1 / *divisor)}),
                       "a division by a power of two is a product"};
  if (b.is(left, Operation::negate) && b.is(right, Operation::negate))
    return Replacement{
        b.pointwise(Operation::divide, {b.value(left).inputs[0], b.value(right).inputs[0]}),
        "(-a) / (-b) is a / b"};
  // Proof: the evaluator's formula of rsqrt is 1 / sqrt(v).
  if (b.is_constant(left, 1) && b.is(right, Operation::sqrt))
    return Replacement{b.pointwise(Operation::rsqrt, {b.value(right).inputs[0]}),
                       "1 / sqrt(v) is rsqrt(v)"};
  return std::nullopt;
}

}  // namespace

std::optional<Replacement> simplify_arithmetic(RewriteBuilder& builder, const Value& value) {
  if (value.kind != NodeKind::pointwise) return std::nullopt;
  switch (value.operation) {
    case Operation::add:
      return simplify_sum(builder, value);
    case Operation::subtract:
      return simplify_difference(builder, value);
    case Operation::multiply:
      return simplify_product(builder, value);
    case Operation::divide:
      return simplify_quotient(builder, value);
    case Operation::negate:
      // Proof: negation turns one bit.
      if (builder.is(value.inputs[0], Operation::negate))
        return Replacement{builder.input(value, 0).inputs[0], "-(-v) is v"};
      return std::nullopt;
    case Operation::reciprocal:
      if (builder.is(value.inputs[0], Operation::sqrt))
        return Replacement{builder.pointwise(Operation::rsqrt, {builder.input(value, 0).inputs[0]}),
                           "1 / sqrt(v) is rsqrt(v)"};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace detail
}  // namespace postlude
