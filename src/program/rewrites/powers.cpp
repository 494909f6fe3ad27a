#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {

// Rule: v ** p for p = 0, 1, 2, -1, and 1 ** v.
// Proof: C's pow (ISO C, F.10.4.4) is 1 for every v ** 0 and 1 ** v, NaN included, v for v ** 1,
// +inf for (-0) ** -1 only if the exponent is even: -1 is odd, so the sign is that of 1 / v. Of v
// ** 2 and v ** -1 the product and the quotient are the rounded exact values, from which pow is at
// most as far as GUIDE.md allows a formula. Not v ** 0.5: pow(-0, 0.5) is 0 and sqrt(-0) is -0,
// pow(-inf, 0.5) is inf and sqrt(-inf) NaN.
std::optional<Replacement> simplify_power(RewriteBuilder& b, const Value& value) {
  if (value.kind != NodeKind::pointwise || value.operation != Operation::power) return std::nullopt;
  const int base = value.inputs[0];
  const std::optional<double> exponent = b.constant_of(value.inputs[1]);
  if (b.is_constant(base, 1)) return Replacement{b.constant(1), "1 ** v is 1, also for NaN"};
  if (!exponent) return std::nullopt;
  if (*exponent == 0) return Replacement{b.constant(1), "v ** 0 is 1, also for NaN"};
  if (*exponent == 1) return Replacement{base, "v ** 1 is v"};
  if (*exponent == 2)
    return Replacement{b.pointwise(Operation::square, {base}), "v ** 2 is square(v)"};
  if (*exponent == -1)
    return Replacement{b.pointwise(Operation::reciprocal, {base}), "v ** -1 is reciprocal(v)"};
  return std::nullopt;
}

}  // namespace detail
}  // namespace postlude
