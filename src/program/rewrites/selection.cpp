#include <cmath>
#include <limits>

#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {
namespace {

bool is_comparison(const RewriteBuilder& b, int index) {
  for (const Operation operation :
       {Operation::less, Operation::less_equal, Operation::greater, Operation::greater_equal,
        Operation::equal, Operation::not_equal})
    if (b.is(index, operation)) return true;
  return false;
}

std::optional<Replacement> choose_of_where(RewriteBuilder& b, const Value& where) {
  const int condition = where.inputs[0];
  const int chosen = where.inputs[1];
  const int other = where.inputs[2];
  // Proof: where takes b for a condition that is 0 or -0, and a for every other, NaN included; NaN
  // in the branch that is not taken does not count.
  if (const std::optional<double> number = b.constant_of(condition))
    return Replacement{*number != 0 ? chosen : other, "the condition is a constant"};
  if (chosen == other) return Replacement{chosen, "both branches are one value"};
  // Proof: c != 0 is 1 for NaN, which where takes as true as well.
  if (b.is(condition, Operation::not_equal))
    for (const std::size_t i : {0, 1}) {
      const std::optional<double> zero = b.constant_of(b.value(condition).inputs[i]);
      if (zero && *zero == 0)
        return Replacement{
            b.pointwise(Operation::where, {b.value(condition).inputs[1 - i], chosen, other}),
            "where asks whether the condition is not 0"};
    }
  // Proof: a comparison gives 1 or 0 and nothing else.
  if (is_comparison(b, condition) && b.is_constant(chosen, 1) && b.is_constant(other, 0))
    return Replacement{condition, "a comparison is 1 or 0 already"};
  return std::nullopt;
}

/// What swallows every other input when one is NaN.
bool spreads_nan(Operation operation) {
  switch (operation) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::min:
    case Operation::max:
    case Operation::clamp:
    case Operation::hardtanh:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<Replacement> choose_branch(RewriteBuilder& b, const Value& value) {
  if (value.kind != NodeKind::pointwise) return std::nullopt;
  // Proof: these give NaN for a NaN in any input, whatever the others are.
  if (spreads_nan(value.operation))
    for (const int input : value.inputs) {
      const std::optional<double> number = b.constant_of(input);
      if (number && std::isnan(*number))
        return Replacement{b.constant(std::numeric_limits<double>::quiet_NaN()),
                           "an input is NaN everywhere"};
    }
  switch (value.operation) {
    case Operation::where:
      return choose_of_where(b, value);
    // Proof: nothing is less than itself, NaN included. (v == v is false for NaN.)
    case Operation::less:
    case Operation::greater:
      if (value.inputs[0] == value.inputs[1])
        return Replacement{b.constant(0), "nothing is less than itself"};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace detail
}  // namespace postlude
