#include "program/guarded/vanishing_difference.hpp"

namespace postlude {
namespace detail {
namespace {

/// The v of v + 0, else the value itself.
int without_zero(const Program& program, int index) {
  const Value& sum = program.values[static_cast<std::size_t>(index)];
  if (sum.kind != NodeKind::pointwise || sum.operation != Operation::add) return index;
  for (const std::size_t i : {0, 1}) {
    const Value& other = program.values[static_cast<std::size_t>(sum.inputs[i])];
    if (other.kind == NodeKind::constant && other.constant == 0) return sum.inputs[1 - i];
  }
  return index;
}

}  // namespace

VanishingDifference vanishing_difference(const Program& program, const Value& value) {
  if (value.kind != NodeKind::pointwise || value.operation != Operation::subtract) return {};
  const int left = value.inputs[0];
  const int right = value.inputs[1];
  const int v = without_zero(program, left);
  if (v != without_zero(program, right)) return {};
  return {v, left == v && right != v};
}

}  // namespace detail
}  // namespace postlude
