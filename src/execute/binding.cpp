#include "execute/binding.hpp"

#include <algorithm>
#include <array>

#include <postlude/error.hpp>

#include "expression/signature.hpp"

namespace postlude {
namespace detail {
namespace {

/// The numbers of a tensor's dimensions as those of batch, rows and columns.
std::array<std::int64_t, 3> by_dimension(const Tensor& tensor, const std::int64_t (&numbers)[3],
                                         std::int64_t absent, const DimensionReading& reading) {
  std::array<std::int64_t, 3> result = {absent, absent, absent};
  int next = 0;
  if (tensor.rank == 3 || reading.is_batched) result[0] = numbers[next++];
  if (tensor.rank - next == 2) {
    result[1] = numbers[next];
    result[2] = numbers[next + 1];
  } else if (tensor.rank - next == 1) {
    result[reading.is_row ? 2 : 1] = numbers[next];
  }
  return result;
}

/// Strides over a stage's domain: a dimension of extent 1 broadcasts.
void set_strides(OperandAccess& access, const PlannedStage& stage, const StageOperand& operand,
                 const MatrixStrides& strides) {
  const std::int64_t row = operand.shape.rows == 1 ? 0 : strides.row;
  const std::int64_t column = operand.shape.columns == 1 ? 0 : strides.column;
  access.stride_batch = operand.shape.batch == 1 ? 0 : strides.batch;
  if (stage.window_count == 0) {
    access.stride_outer = stage.inner_is_rows ? column : row;
    access.stride_inner = stage.inner_is_rows ? row : column;
    const auto divisor = static_cast<std::int32_t>(operand.repeat);
    (stage.inner_is_rows ? access.outer_divisor : access.inner_divisor) = divisor;
    return;
  }
  // Window by window. What has one column for each window stands still inside one.
  const bool has_window_columns = operand.is_written || operand.repeat > 1;
  const std::int64_t across = has_window_columns ? column : column * stage.window_step;
  const std::int64_t inside = has_window_columns ? 0 : column;
  access.stride_part = stage.inner_is_rows ? across : row;
  access.stride_outer = stage.inner_is_rows ? inside : across;
  access.stride_inner = stage.inner_is_rows ? row : inside;
}

}  // namespace

MatrixStrides strides_of(const Tensor& tensor, const DimensionReading& reading) {
  const std::array<std::int64_t, 3> strides = by_dimension(tensor, tensor.stride, 0, reading);
  return {strides[0], strides[1], strides[2]};
}

Shape shape_of(const Tensor& tensor, const DimensionReading& reading) {
  const std::array<std::int64_t, 3> extents = by_dimension(tensor, tensor.extent, 1, reading);
  return {extents[0], extents[1], extents[2]};
}

std::vector<const Binding*> match_bindings(const Program& program,
                                           const std::vector<Binding>& bindings) {
  std::vector<const Binding*> matched(program.operands.size(), nullptr);
  for (const Binding& binding : bindings) {
    const auto operand = std::find_if(
        program.operands.begin(), program.operands.end(),
        [&](const ProgramOperand& candidate) { return candidate.name == binding.name; });
    if (operand == program.operands.end()) {
      std::vector<std::string> names;
      for (const ProgramOperand& candidate : program.operands) names.push_back(candidate.name);
      const std::string guess = closest_name(binding.name, names);
      throw Error(Status::unknown_name,
                  "bindings name '" + binding.name.substr(0, 64) +
                      "', which is no operand of the plan" +
                      (guess.empty() ? "" : "; did you mean '" + guess + "'?"));
    }
    const Binding*& slot = matched[static_cast<std::size_t>(operand - program.operands.begin())];
    if (slot != nullptr)
      throw Error(Status::invalid_argument, "bindings name '" + binding.name + "' twice");
    slot = &binding;
  }
  for (std::size_t i = 0; i < matched.size(); ++i)
    if (matched[i] == nullptr && program.operands[i].is_used)
      throw Error(Status::missing_operand,
                  "operand '" + program.operands[i].name + "' is not bound");
  return matched;
}

Stage bind_stage(const ExecutionPlan& plan, const PlannedStage& planned, const BoundMemory& memory,
                 const std::vector<const Binding*>& bindings, const std::vector<Tensor>& outputs) {
  Stage stage = planned.stage;
  for (const StageScalar& scalar : planned.scalars)
    stage.scalars[scalar.slot] = bindings[scalar.operand]->scalar;
  for (std::size_t i = 0; i < planned.operands.size(); ++i) {
    const StageOperand& operand = planned.operands[i];
    OperandAccess& access = stage.operands[i];
    MatrixStrides strides;
    switch (operand.role) {
      case OperandRole::gemm_result:
        access.data = memory.y;
        access.dtype = plan.compute_dtype;
        strides = memory.y_strides;
        break;
      case OperandRole::intermediate:
      case OperandRole::gemm_factors:
        access.data = memory.workspace + operand.offset;
        access.dtype =
            operand.role == OperandRole::intermediate ? DataType::float64 : DataType::float32;
        strides = {operand.shape.rows * operand.shape.columns, operand.shape.columns, 1};
        break;
      case OperandRole::position:
        access.data = nullptr;
        strides = {operand.shape.rows * operand.shape.columns, operand.shape.columns, 1};
        break;
      case OperandRole::operand:
      case OperandRole::result: {
        const Tensor& tensor = operand.role == OperandRole::operand
                                   ? bindings[operand.index]->tensor
                                   : outputs[operand.index];
        access.data = tensor.data;
        access.dtype = tensor.dtype;
        const bool is_batched =
            operand.role == OperandRole::operand && plan.program.operands[operand.index].is_batched;
        strides = strides_of(tensor, reading_as(operand.shape, is_batched));
        break;
      }
    }
    set_strides(access, planned, operand, strides);
  }
  return stage;
}

}  // namespace detail
}  // namespace postlude
