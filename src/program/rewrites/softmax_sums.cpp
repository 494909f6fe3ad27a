#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {
namespace {

/// v of exp(v - max(v, dim)) for the maximum over what `sum` goes over, -1 when it is not that.
int shifted_by_largest(const RewriteBuilder& b, const Value& sum) {
  const int powers = b.without_expansion(sum.inputs[0]);
  if (!b.is(powers, Operation::exp)) return -1;
  const int shifted = b.without_expansion(b.value(powers).inputs[0]);
  if (!b.is(shifted, Operation::subtract)) return -1;
  const int v = b.value(shifted).inputs[0];
  const Value& largest = b.value(b.without_expansion(b.value(shifted).inputs[1]));
  const bool fits = largest.kind == NodeKind::reduction && largest.reduction == Reduction::max &&
                    largest.dim == sum.dim && largest.window_size == 0 &&
                    b.without_expansion(largest.inputs[0]) == b.without_expansion(v) &&
                    b.input(largest, 0).shape == b.input(sum, 0).shape;
  return fits ? largest.inputs[0] : -1;
}

}  // namespace

// Rule: sum(exp(v - max(v, dim=1)), dim=1) is sumexp(v, dim=1), which needs no maximum before it:
// one sweep finds both. Proof: sumexp is that sum by definition; its reducer adds the same terms,
// relative to the largest element so far, and multiplies by exp(m - m') where that changes, which
// is a rounding or two of the sum. NaN for NaN, and where the maximum is an infinity, which has no
// difference from itself, in both. Not along dim 0, where every reduction of a row-major y is a sweep of its own.
std::optional<Replacement> merge_softmax_sum(RewriteBuilder& b, const Value& value) {
  if (value.kind != NodeKind::reduction || value.reduction != Reduction::sum || value.dim != 1 ||
      value.window_size != 0)
    return std::nullopt;
  const int v = shifted_by_largest(b, value);
  if (v < 0) return std::nullopt;
  Value merged = value;
  merged.reduction = Reduction::sumexp;
  merged.inputs = {v};
  return Replacement{b.add(merged), "it is found in the sweep that finds the maximum"};
}

}  // namespace detail
}  // namespace postlude
