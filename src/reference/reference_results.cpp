#include "reference/reference_results.hpp"

#include <string>
#include <utility>

#include <postlude/error.hpp>

#include "execute/binding.hpp"
#include "execute/plan_implementation.hpp"
#include "reference/reference_gemm.hpp"
#include "reference/small_floats.hpp"

namespace postlude {
namespace detail {
namespace reference {
namespace {

double element(const Tensor& tensor, std::int64_t offset) {
  switch (tensor.dtype) {
    case DataType::float64:
      return static_cast<const double*>(tensor.data)[offset];
    case DataType::float32:
      return static_cast<double>(static_cast<const float*>(tensor.data)[offset]);
    case DataType::int64:
      return static_cast<double>(static_cast<const std::int64_t*>(tensor.data)[offset]);
    case DataType::float16:
      return from_float16(static_cast<const std::uint16_t*>(tensor.data)[offset]);
    case DataType::bfloat16:
      return from_bfloat16(static_cast<const std::uint16_t*>(tensor.data)[offset]);
  }
  throw Error(Status::internal_error, "a tensor has no known dtype");
}

Array operand_value(const ProgramOperand& operand, const Binding& binding) {
  if (!binding.is_scalar) return read(binding.tensor, operand.shape, operand.is_batched);
  Array array(operand.shape);
  array.values[0] = binding.scalar;
  return array;
}

}  // namespace

Array read(const Tensor& tensor, const Shape& shape, bool is_batched) {
  Array array(shape);
  const MatrixStrides strides = strides_of(tensor, reading_as(shape, is_batched));
  for (std::int64_t batch = 0; batch < shape.batch; ++batch)
    for (std::int64_t row = 0; row < shape.rows; ++row)
      for (std::int64_t column = 0; column < shape.columns; ++column)
        array.at(batch, row, column) =
            element(tensor, batch * strides.batch + row * strides.row + column * strides.column);
  return array;
}

ProgramInputs program_inputs(const Plan& plan, const Arguments& arguments) {
  const PlanImplementation& implementation = plan.implementation();
  const std::vector<const Binding*> bindings =
      implementation.validate(Backend::serial, arguments, nullptr, 0);
  const Program& program = implementation.program();
  ProgramInputs inputs;
  inputs.operands.resize(program.operands.size());
  for (std::size_t i = 0; i < inputs.operands.size(); ++i)
    if (program.operands[i].is_used)
      inputs.operands[i] = operand_value(program.operands[i], *bindings[i]);
  if (program.uses_y()) inputs.y = multiply(arguments.x, arguments.w);
  return inputs;
}

std::vector<ReferenceResult> expected_results(const Plan& plan, const Arguments& arguments) {
  ProgramInputs inputs = program_inputs(plan, arguments);
  Program program = plan.implementation().program();
  const std::size_t count = program.results.size();
  std::vector<ReferenceResult> results(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Value& value = program.values[static_cast<std::size_t>(program.results[i].value)];
    if (!value.is_index()) continue;
    results[i].is_index = true;
    results[i].dim = value.dim;
    // What the index was searched in is one more result.
    program.results.push_back({"searched", value.inputs[0]});
  }
  std::vector<Array> values = evaluate(program, std::move(inputs.y), inputs.operands);
  std::size_t searched = count;
  for (std::size_t i = 0; i < count; ++i) {
    results[i].value = std::move(values[i]);
    if (results[i].is_index) results[i].searched = std::move(values[searched++]);
  }
  return results;
}

}  // namespace reference
}  // namespace detail
}  // namespace postlude
