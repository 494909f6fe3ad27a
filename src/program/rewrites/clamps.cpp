#include <algorithm>
#include <cmath>
#include <limits>

#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// min(max(v, low), high) with constant bounds, low <= high.
struct Clamp {
  int v = -1;
  double low = -infinity;
  double high = infinity;
};

bool is_negative_zero(double value) { return value == 0 && std::signbit(value); }

/// A value as such a clamp. Bounds the wrong way round give the upper one, as min(max(v, low),
/// high) does.
std::optional<Clamp> as_clamp(const RewriteBuilder& b, const Value& value) {
  if (value.kind != NodeKind::pointwise) return std::nullopt;
  Clamp clamp;
  clamp.v = value.inputs[0];
  const auto bounds = [&](std::optional<double> low, std::optional<double> high) {
    if (!low || !high || std::isnan(*low) || std::isnan(*high)) return false;
    if (is_negative_zero(*low) || is_negative_zero(*high)) return false;
    clamp.low = std::min(*low, *high);
    clamp.high = *high;
    return true;
  };
  switch (value.operation) {
    case Operation::relu:
      bounds(0, infinity);
      return clamp;
    case Operation::relu6:
      bounds(0, 6);
      return clamp;
    case Operation::clamp:
    case Operation::hardtanh:
      if (bounds(b.constant_of(value.inputs[1]), b.constant_of(value.inputs[2]))) return clamp;
      return std::nullopt;
    case Operation::min:
    case Operation::max:
      for (const std::size_t i : {0, 1}) {
        clamp.v = value.inputs[1 - i];
        const std::optional<double> bound = b.constant_of(value.inputs[i]);
        if (bound && *bound == 0 && i == 0) continue;  // of two zeros the second is returned
        if (value.operation == Operation::min ? bounds(-infinity, bound) : bounds(bound, infinity))
          return clamp;
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

int build(RewriteBuilder& b, const Clamp& clamp) {
  if (clamp.low == -infinity && clamp.high == infinity) return clamp.v;
  if (clamp.high == infinity && clamp.low == 0) return b.pointwise(Operation::relu, {clamp.v});
  if (clamp.high == infinity) return b.pointwise(Operation::max, {clamp.v, b.constant(clamp.low)});
  if (clamp.low == -infinity) return b.pointwise(Operation::min, {clamp.v, b.constant(clamp.high)});
  return b.pointwise(Operation::clamp, {clamp.v, b.constant(clamp.low), b.constant(clamp.high)});
}

/// The input of min or max that made the same choice with the other input before, -1 without one.
int earlier_choice(const RewriteBuilder& b, const Value& value) {
  if (value.operation != Operation::min && value.operation != Operation::max) return -1;
  for (const std::size_t i : {0, 1}) {
    if (!b.is(value.inputs[i], value.operation)) continue;
    const Value& inner = b.input(value, i);
    const bool is_same = std::find(inner.inputs.begin(), inner.inputs.end(), value.inputs[1 - i]) !=
                         inner.inputs.end();
    // Where the two are zeros, the second one is returned: it has to be the same both times.
    const bool is_same_zero = i == 1 || inner.inputs[1] == value.inputs[1];
    if (is_same && is_same_zero && inner.shape == value.shape) return value.inputs[i];
  }
  return -1;
}

}  // namespace

// Rule: a clamp of a clamp with constant bounds is one clamp, of which the inner bounds are clamped
// by the outer ones; one without bounds is nothing; min(min(v, a), a) is min(v, a). Proof:
// clamp_2(clamp_1(v)) never falls as v grows, is NaN for NaN, equals clamp_2(low_1) for v <= low_1,
// clamp_2(high_1) for v >= high_1 and clamp_2(v) between. So it is a clamp with these two ends:
// where the intervals meet that is their intersection, else one number. Choices are exact; which of
// two zeros they return is not specified.
std::optional<Replacement> merge_clamps(RewriteBuilder& b, const Value& value) {
  if (value.kind != NodeKind::pointwise) return std::nullopt;
  if (const int earlier = earlier_choice(b, value); earlier >= 0)
    return Replacement{earlier, "the same choice was made before"};
  const std::optional<Clamp> outer = as_clamp(b, value);
  if (!outer) return std::nullopt;
  if (outer->low == -infinity && outer->high == infinity)
    return Replacement{outer->v, "a clamp without bounds changes nothing"};
  if (const std::optional<Clamp> inner = as_clamp(b, b.value(outer->v))) {
    const auto clamped = [&](double v) { return std::min(std::max(v, outer->low), outer->high); };
    return Replacement{build(b, {inner->v, clamped(inner->low), clamped(inner->high)}),
                       "a clamp of a clamp is one clamp"};
  }
  // One bound is enough: the other choice is saved.
  const bool is_one_sided = outer->low == -infinity || outer->high == infinity;
  if (is_one_sided &&
      (value.operation == Operation::clamp || value.operation == Operation::hardtanh))
    return Replacement{build(b, *outer), "a clamp with one bound is one choice"};
  return std::nullopt;
}

}  // namespace detail
}  // namespace postlude
