#include "program/rewrites/rewrite_builder.hpp"

#include <cmath>
#include <utility>

#include "expression/number_text.hpp"
#include "expression/signature.hpp"
#include "program/constant_value.hpp"
#include "program/ranges/value_range.hpp"

namespace postlude {
namespace detail {

namespace {

/// The same value from its two inputs in the other order. Of min and max the order may decide which
/// zero is returned.
std::optional<Value> with_swapped_inputs(const Value& value) {
  if (value.kind != NodeKind::pointwise) return std::nullopt;
  Value swapped = value;
  std::swap(swapped.inputs[0], swapped.inputs[1]);
  switch (value.operation) {
    case Operation::add:
    case Operation::multiply:
    case Operation::equal:
    case Operation::not_equal:
      return swapped;
    case Operation::less:
      swapped.operation = Operation::greater;
      return swapped;
    case Operation::greater:
      swapped.operation = Operation::less;
      return swapped;
    case Operation::less_equal:
      swapped.operation = Operation::greater_equal;
      return swapped;
    case Operation::greater_equal:
      swapped.operation = Operation::less_equal;
      return swapped;
    default:
      return std::nullopt;
  }
}

}  // namespace

RewriteBuilder::RewriteBuilder(const Program& source, DataType arithmetic, bool shares_values)
    : arithmetic_(arithmetic), shares_values_(shares_values) {
  program_.y = source.y;
  program_.depth = source.depth;
  program_.operands = source.operands;
  program_.results = source.results;
  program_.text = source.text;
}

void RewriteBuilder::drop_expansions(Value& value) const {
  if (value.kind != NodeKind::pointwise) return;
  for (int& input : value.inputs) {
    const int expanded = input;
    input = without_expansion(input);
    if (input == expanded) continue;
    std::vector<Shape> shapes;
    for (const int each : value.inputs) shapes.push_back(this->value(each).shape);
    if (broadcast(shapes) != value.shape) input = expanded;
  }
}

int RewriteBuilder::add(Value value) {
  drop_expansions(value);
  if (shares_values_ && value.inputs.size() == 2 && value.inputs[0] != value.inputs[1]) {
    if (const std::optional<Value> swapped = with_swapped_inputs(value))
      if (const std::optional<int> known = table_.find(*swapped)) return *known;
  }
  const auto count = static_cast<int>(program_.values.size());
  int index = count;
  if (shares_values_)
    index = table_.share(program_, std::move(value));
  else
    program_.values.push_back(std::move(value));
  if (index == count) ranges_.push_back(range_of(this->value(index)));
  return index;
}

Range RewriteBuilder::range_of(const Value& value) const {
  RangeAssumptions assumptions;
  assumptions.arithmetic = arithmetic_;
  return value_range(
      value, assumptions, [&](std::size_t i) { return range(value.inputs[i]); },
      [&](std::size_t i) { return this->value(value.inputs[i]).shape; });
}

int RewriteBuilder::constant(double number) {
  Value value;
  value.kind = NodeKind::constant;
  value.constant = number;
  return add(std::move(value));
}

int RewriteBuilder::pointwise(Operation operation, std::vector<int> inputs) {
  Value value;
  value.kind = NodeKind::pointwise;
  value.operation = operation;
  std::vector<Shape> shapes;
  for (const int each : inputs) shapes.push_back(this->value(each).shape);
  value.shape = broadcast(shapes);
  value.inputs = std::move(inputs);
  return add(std::move(value));
}

int RewriteBuilder::expand(int index, const Shape& shape) {
  if (value(index).shape == shape) return index;
  Value expanded;
  expanded.kind = NodeKind::expand;
  expanded.inputs = {without_expansion(index)};
  expanded.shape = shape;
  return add(std::move(expanded));
}

int RewriteBuilder::without_expansion(int index) const {
  while (value(index).kind == NodeKind::expand) index = value(index).inputs[0];
  return index;
}

std::optional<double> RewriteBuilder::constant_of(int index) const {
  const Value& behind = value(without_expansion(index));
  if (behind.kind != NodeKind::constant) return std::nullopt;
  return rounded_constant(behind.constant, arithmetic_);
}

bool RewriteBuilder::is_constant(int index, double number) const {
  const std::optional<double> held = constant_of(index);
  return held && *held == number && std::signbit(*held) == std::signbit(number);
}

bool RewriteBuilder::is(int index, Operation operation) const {
  return value(index).kind == NodeKind::pointwise && value(index).operation == operation;
}

std::string RewriteBuilder::text(const Value& value) const { return text(value, 3); }

std::string RewriteBuilder::text(const Value& value, int depth) const {
  const auto inputs = [&](std::size_t first) {
    std::string list;
    for (std::size_t i = first; i < value.inputs.size(); ++i)
      list += (i == first ? "" : ", ") + text(input(value, i), depth - 1);
    return list;
  };
  switch (value.kind) {
    case NodeKind::gemm_result:
      return "y";
    case NodeKind::constant:
      return number_text(value.constant);
    case NodeKind::operand:
      return program_.operands[static_cast<std::size_t>(value.operand)].name;
    case NodeKind::random:
      return "random";
    case NodeKind::gemm_factors:
      return "factors";
    case NodeKind::expand:
      return text(input(value, 0), depth);
    case NodeKind::repeat:
      return depth == 0 ? "..." : "repeat(" + inputs(0) + ")";
    case NodeKind::pointwise:
      return depth == 0 ? "..." : signature_of(value.operation).name + "(" + inputs(0) + ")";
    case NodeKind::reduction:
      return depth == 0 ? "..."
                        : signature_of(value.reduction).name + "(" + inputs(0) +
                              ", dim=" + std::to_string(value.dim) + ")";
  }
  return "?";
}

}  // namespace detail
}  // namespace postlude
