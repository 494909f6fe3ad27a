#include <cmath>

#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {
namespace {

/// Whether a is the smaller of the two for all their numbers, and so that no zeros of two signs are
/// chosen between.
bool is_always_smaller(const Range& a, const Range& b) {
  if (a.high < b.low) return true;
  if (a.high > b.low) return false;
  return a.high != 0 || (!a.may_be_negative_zero && !b.may_be_negative_zero);
}

std::optional<Replacement> use_ranges_of_choice(RewriteBuilder& b, const Value& value) {
  const bool is_min = value.operation == Operation::min;
  for (const std::size_t i : {0, 1}) {
    const Range& chosen = b.range(value.inputs[i]);
    const Range& other = b.range(value.inputs[1 - i]);
    // A NaN in `chosen` is chosen; one in `other` would have to come through.
    if (other.may_be_nan) continue;
    if (is_min ? is_always_smaller(chosen, other) : is_always_smaller(other, chosen))
      return Replacement{value.inputs[i],
                         is_min ? "it is always the smaller one" : "it is always the larger one"};
  }
  return std::nullopt;
}

std::optional<Replacement> use_ranges_of_clamp(RewriteBuilder& b, const Value& value) {
  const Range& v = b.range(value.inputs[0]);
  const Range& low = b.range(value.inputs[1]);
  const Range& high = b.range(value.inputs[2]);
  if (!low.may_be_nan && !high.may_be_nan && is_always_smaller(low, v) &&
      is_always_smaller(v, high))
    return Replacement{value.inputs[0], "it is always within the bounds"};
  // Outside: v has to be a number, since a NaN would come through.
  if (!v.may_be_nan && is_always_smaller(v, low) && !low.may_be_nan)
    return Replacement{b.pointwise(Operation::min, {value.inputs[1], value.inputs[2]}),
                       "it is always below the lower bound"};
  if (!v.may_be_nan && !low.may_be_nan && is_always_smaller(high, v))
    return Replacement{value.inputs[2], "it is always above the upper bound"};
  return std::nullopt;
}

}  // namespace

// Rule: what the ranges of values decide need not be computed.
// Proof: program/ranges/ gives for each value numbers that it cannot leave, and whether it may be
// NaN or -0, for all y and operands. Each replacement below is the operation's result on all of
// them.
std::optional<Replacement> use_range(RewriteBuilder& b, const Value& value) {
  if (value.kind != NodeKind::pointwise) return std::nullopt;
  const Range& v = b.range(value.inputs[0]);
  switch (value.operation) {
    case Operation::relu:
    case Operation::abs:
      if (v.is_without_sign()) return Replacement{value.inputs[0], "it is never negative"};
      break;
    case Operation::relu6:
      if (v.is_without_sign() && v.high <= 6)
        return Replacement{value.inputs[0], "it is always within the bounds"};
      break;
    case Operation::leaky_relu:
    case Operation::elu:
      // Also for NaN, which both branches keep.
      if (v.low > 0) return Replacement{value.inputs[0], "it is always positive"};
      break;
    case Operation::min:
    case Operation::max:
      if (const auto replacement = use_ranges_of_choice(b, value)) return replacement;
      break;
    case Operation::clamp:
    case Operation::hardtanh:
      if (const auto replacement = use_ranges_of_clamp(b, value)) return replacement;
      break;
    case Operation::where:
      // A NaN condition is not 0 either.
      if (v.low > 0 || v.high < 0) return Replacement{value.inputs[1], "the condition is never 0"};
      if (v.low == 0 && v.high == 0 && !v.may_be_nan)
        return Replacement{value.inputs[2], "the condition is always 0"};
      break;
    default:
      break;
  }
  const Range own = b.range_of(value);
  if (own.low == own.high && !own.may_be_nan && std::isfinite(own.low) &&
      (own.low != 0 || !own.may_be_negative_zero))
    return Replacement{b.constant(own.low), "its range is one number"};
  return std::nullopt;
}

}  // namespace detail
}  // namespace postlude
