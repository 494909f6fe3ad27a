#include <limits>

#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {
namespace {

/// Whether every result is made of exactly one element, that of its own place.
bool reduces_one_element(const RewriteBuilder& b, const Value& value) {
  if (value.kind != NodeKind::reduction) return false;
  if (value.window_size != 0) return value.window_size == 1 && value.window_step == 1;
  const Shape& shape = b.input(value, 0).shape;
  return (value.dim == 0 ? shape.rows : shape.columns) == 1;
}

}  // namespace

// Rule: a reduction over one element v needs no sweep. (And the columns that a normalisation of
// groups of one column repeats are the columns that there are.) Proof, by the reducers' states
// (evaluator/reducers.hpp) after their one element:
// - max, min, prod: the element, since -inf, inf and 1 are neutral; NaN and the sign of 0 are kept.
// - sum: 0 + v, which is v but 0 for -0. mean: the same divided by 1. logsumexp: v + log(exp(0)),
// of
//   which exp(0) is exactly 1; infinities and NaN are v.
// - sumexp: exp(v - v), in the reducer exp(0) for a finite v and NaN for others.
// - amax, and norm for every p: |v| times 1.
// - var and std: no deviation, v - v, which is 0, or NaN for NaN and infinities; divided by
//   1 - correction, or by 0, which gives NaN.
// - any, all: whether v is not 0; NaN is not.
// An index is left alone: as a result it is an integer.
std::optional<Replacement> fold_size_one_reduction(RewriteBuilder& b, const Value& value) {
  if (value.kind == NodeKind::repeat && value.factor == 1)
    return Replacement{value.inputs[0], "each column is there once already"};
  if (!reduces_one_element(b, value)) return std::nullopt;
  const int v = value.inputs[0];
  switch (value.reduction) {
    case Reduction::max:
    case Reduction::min:
    case Reduction::prod:
      return Replacement{v, "over one element it is that element"};
    case Reduction::sum:
    case Reduction::mean:
    case Reduction::logsumexp:
      return Replacement{b.pointwise(Operation::add, {v, b.constant(0)}),
                         "over one element it is 0 + that element"};
    case Reduction::sumexp:
      return Replacement{b.pointwise(Operation::exp, {b.pointwise(Operation::subtract, {v, v})}),
                         "over one element it is exp(v - v), 1 or NaN"};
    case Reduction::amax:
    case Reduction::norm:
      return Replacement{b.pointwise(Operation::abs, {v}), "over one element it is its magnitude"};
    case Reduction::var:
    case Reduction::std:
      if (value.parameter < 1)
        return Replacement{b.pointwise(Operation::subtract, {v, v}),
                           "one element has no deviation, 0 or NaN"};
      return Replacement{b.constant(std::numeric_limits<double>::quiet_NaN()),
                         "0 / 0, since one element leaves no degree of freedom"};
    case Reduction::any:
    case Reduction::all:
      return Replacement{b.pointwise(Operation::not_equal, {v, b.constant(0)}),
                         "over one element it asks whether that is not 0"};
    case Reduction::argmax:
    case Reduction::argmin:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace detail
}  // namespace postlude
