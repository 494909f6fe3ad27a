#include "reference/reference.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <postlude/error.hpp>

#include "reference/formulas.hpp"
#include "reference/random.hpp"
#include "reference/reductions.hpp"

namespace postlude {
namespace detail {
namespace reference {
namespace {

Array pointwise(const Value& value, const std::vector<const Array*>& inputs) {
  Array result(value.shape);
  double arguments[3] = {};
  for (std::int64_t batch = 0; batch < value.shape.batch; ++batch)
    for (std::int64_t row = 0; row < value.shape.rows; ++row)
      for (std::int64_t column = 0; column < value.shape.columns; ++column) {
        for (std::size_t i = 0; i < inputs.size(); ++i)
          arguments[i] = inputs[i]->at(batch, row, column);
        result.at(batch, row, column) = apply(value.operation, arguments);
      }
  return result;
}

Array reduction(const Value& value, const Array& input) {
  Array result(value.shape);
  const std::int64_t count = value.dim == 0 ? input.shape.rows : input.shape.columns;
  std::vector<double> elements(static_cast<std::size_t>(count));
  for (std::int64_t batch = 0; batch < value.shape.batch; ++batch)
    for (std::int64_t row = 0; row < value.shape.rows; ++row)
      for (std::int64_t column = 0; column < value.shape.columns; ++column) {
        for (std::int64_t i = 0; i < count; ++i)
          elements[static_cast<std::size_t>(i)] =
              value.dim == 0 ? input.at(batch, i, column) : input.at(batch, row, i);
        result.at(batch, row, column) = reduce(value.reduction, elements, value.parameter);
      }
  return result;
}

/// A reduction over parts of dim 1: column i of the result from `window_size` columns, the first of
/// which is i * window_step.
Array windowed_reduction(const Value& value, const Array& input) {
  Array result(value.shape);
  std::vector<double> elements(static_cast<std::size_t>(value.window_size));
  for (std::int64_t batch = 0; batch < value.shape.batch; ++batch)
    for (std::int64_t row = 0; row < value.shape.rows; ++row)
      for (std::int64_t column = 0; column < value.shape.columns; ++column) {
        for (std::int64_t i = 0; i < value.window_size; ++i)
          elements[static_cast<std::size_t>(i)] =
              input.at(batch, row, column * value.window_step + i);
        result.at(batch, row, column) = reduce(value.reduction, elements, value.parameter);
      }
  return result;
}

Array repeat(const Value& value, const Array& input) {
  Array result(value.shape);
  for (std::int64_t batch = 0; batch < value.shape.batch; ++batch)
    for (std::int64_t row = 0; row < value.shape.rows; ++row)
      for (std::int64_t column = 0; column < value.shape.columns; ++column)
        result.at(batch, row, column) = input.at(batch, row, column / value.factor);
  return result;
}

Array expand(const Value& value, const Array& input) {
  Array result(value.shape);
  for (std::int64_t batch = 0; batch < value.shape.batch; ++batch)
    for (std::int64_t row = 0; row < value.shape.rows; ++row)
      for (std::int64_t column = 0; column < value.shape.columns; ++column)
        result.at(batch, row, column) = input.at(batch, row, column);
  return result;
}

/// The random numbers of elements in row-major order.
Array random(const Value& value, const Array& seed) {
  Array result(value.shape);
  for (std::size_t i = 0; i < result.values.size(); ++i)
    result.values[i] =
        uniform(static_cast<std::uint64_t>(i),
                static_cast<std::uint64_t>(static_cast<std::int64_t>(seed.values[0])));
  return result;
}

Array constant(double number) {
  Array result{Shape()};
  result.values[0] = number;
  return result;
}

/// For each value, the last value that reads it; the number of values when a result does.
std::vector<int> last_uses(const Program& program) {
  const int count = static_cast<int>(program.values.size());
  std::vector<int> last(program.values.size(), -1);
  for (int i = 0; i < count; ++i)
    for (const int input : program.values[static_cast<std::size_t>(i)].inputs)
      last[static_cast<std::size_t>(input)] = i;
  for (const ProgramResult& result : program.results)
    last[static_cast<std::size_t>(result.value)] = count;
  return last;
}

void require_shape(const Array& array, const Shape& shape, const std::string& name) {
  if (array.shape == shape && static_cast<std::int64_t>(array.values.size()) == shape.elements())
    return;
  throw Error(Status::internal_error, "the reference was given " + name + " of shape " +
                                          to_string(array.shape) + ": expected " +
                                          to_string(shape));
}

}  // namespace

std::vector<Array> evaluate(const Program& program, Array y, const std::vector<Array>& operands) {
  const std::vector<int> last = last_uses(program);
  std::vector<Array> arrays(program.values.size());
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const Value& value = program.values[i];
    std::vector<const Array*> inputs;
    for (const int input : value.inputs) inputs.push_back(&arrays[static_cast<std::size_t>(input)]);
    switch (value.kind) {
      case NodeKind::gemm_result:
        require_shape(y, program.y, "y");
        arrays[i] = std::move(y);
        break;
      case NodeKind::constant:
        arrays[i] = constant(value.constant);
        break;
      case NodeKind::operand: {
        const auto index = static_cast<std::size_t>(value.operand);
        require_shape(operands.at(index), value.shape, program.operands[index].name);
        arrays[i] = operands[index];
        break;
      }
      case NodeKind::pointwise:
        arrays[i] = pointwise(value, inputs);
        break;
      case NodeKind::reduction:
        arrays[i] = value.window_size == 0 ? reduction(value, *inputs[0])
                                           : windowed_reduction(value, *inputs[0]);
        break;
      case NodeKind::repeat:
        arrays[i] = repeat(value, *inputs[0]);
        break;
      case NodeKind::gemm_factors:
        throw Error(Status::internal_error, "the reference was given the factors of an engine");
      case NodeKind::expand:
        arrays[i] = expand(value, *inputs[0]);
        break;
      case NodeKind::random:
        arrays[i] = random(value, *inputs[0]);
        break;
    }
    // A large problem has room for a few arrays of y's size, not for all.
    for (const int input : value.inputs)
      if (last[static_cast<std::size_t>(input)] == static_cast<int>(i))
        arrays[static_cast<std::size_t>(input)] = Array();
  }
  std::vector<Array> results;
  for (const ProgramResult& result : program.results)
    results.push_back(arrays[static_cast<std::size_t>(result.value)]);
  return results;
}

}  // namespace reference
}  // namespace detail
}  // namespace postlude
