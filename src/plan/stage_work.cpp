#include "plan/stage_work.hpp"

namespace postlude {
namespace detail {
namespace {

std::size_t element_bytes(const ExecutionPlan& plan, const StageOperand& operand) {
  switch (operand.role) {
    case OperandRole::gemm_result:
    case OperandRole::gemm_factors:
      return size_of(plan.compute_dtype);
    case OperandRole::intermediate:
      return sizeof(double);
    case OperandRole::position:
      return 0;
    default:
      return size_of(plan.gemm.dtype);
  }
}

}  // namespace

const char* sweep_name(SweepKind kind) {
  switch (kind) {
    case SweepKind::pointwise:
      return "pointwise";
    case SweepKind::inner_reduction:
      return "reduction along contiguous lines";
    case SweepKind::outer_reduction:
      return "reduction across lines";
  }
  return "?";
}

std::string operand_name(const ExecutionPlan& plan, const StageOperand& operand) {
  switch (operand.role) {
    case OperandRole::gemm_result:
      return "y";
    case OperandRole::gemm_factors:
      return operand.shape.columns == 1 ? "row factors" : "column factors";
    case OperandRole::operand:
      return plan.program.operands[operand.index].name;
    case OperandRole::intermediate:
      return "intermediate@" + std::to_string(operand.offset);
    case OperandRole::result:
      return plan.program.results[operand.index].name;
    case OperandRole::position:
      return "element indices";
  }
  return "?";
}

double stage_bytes(const ExecutionPlan& plan, const PlannedStage& stage) {
  double bytes = 0;
  for (const StageOperand& operand : stage.operands)
    bytes += static_cast<double>(operand.shape.elements()) *
             static_cast<double>(element_bytes(plan, operand));
  return bytes;
}

double stage_flops(const PlannedStage& stage) {
  return static_cast<double>(stage.domain.elements()) * stage.operation_count;
}

std::string y_text(const ExecutionPlan& plan) {
  switch (plan.y_place) {
    case GemmResultPlace::nowhere:
      return "not computed: no result needs y";
    case GemmResultPlace::result:
      return "y is kept in the memory of '" + plan.program.results[plan.y_result].name +
             "' and finished in place";
    case GemmResultPlace::workspace:
      return plan.gemm.has_factors
                 ? "its product and factors of rows and columns, which make y, are in the workspace"
                 : "y is kept in the workspace";
  }
  return "?";
}

}  // namespace detail
}  // namespace postlude
