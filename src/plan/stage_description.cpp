#include "plan/stage_description.hpp"

#include "expression/signature.hpp"

namespace postlude {
namespace detail {
namespace {

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

StageDescription describe_stage(const ExecutionPlan& plan, std::size_t index) {
  const PlannedStage& stage = plan.stages[index];
  StageDescription description;
  description.sweep = sweep_name(stage.sweep);
  for (int i = 0; i < stage.stage.reduction_count; ++i)
    description.reductions.push_back(signature_of(stage.stage.reductions[i].kind).name);
  description.is_taken_in = takes_in(plan, index);
  for (const StageOperand& operand : stage.operands) {
    if (description.is_taken_in && operand.role == OperandRole::gemm_result) continue;
    (operand.is_written ? description.writes : description.reads)
        .push_back(operand_name(plan, operand));
    description.bytes += static_cast<double>(operand.shape.elements()) *
                         static_cast<double>(element_bytes(plan, operand));
  }
  description.flops = static_cast<double>(stage.domain.elements()) * stage.operation_count;
  description.is_on_panels =
      plan.panels.cut != PanelCut::none && plan.panels.phases[index] == StagePhase::panel;
  description.follows_on_each_line = stage.joins_previous && is_host(plan.gemm.backend);
  return description;
}

std::string describe_y(const ExecutionPlan& plan) {
  const std::string panels = describe_panels(plan);
  const std::string in_panels = panels.empty() ? "" : ", computed in " + panels;
  switch (plan.y_place) {
    case GemmResultPlace::nowhere:
      return "not computed: no result needs y";
    case GemmResultPlace::result:
      return "y is kept in the memory of '" + plan.program.results[plan.y_result].name +
             "' and finished in place" + in_panels +
             (plan.panels.reason.empty() ? "" : "; not in panels: " + plan.panels.reason);
    case GemmResultPlace::workspace:
      if (plan.gemm.has_factors)
        return "its product and factors of rows and columns, which make y, are in the workspace";
      if (!panels.empty()) return "y is never held whole, but computed in " + panels;
      if (!plan.panels.reason.empty())
        return "all of y is kept in the workspace: " + plan.panels.reason;
      return "y is kept in the workspace";
  }
  return "?";
}

const char* state_of_engine(const ExecutionPlan& plan, std::size_t index) {
  if (index == plan.chosen_engine) return "chosen";
  return plan.engines[index].accepts ? "possible" : "refused";
}

double gemm_bytes(const ExecutionPlan& plan) {
  if (plan.y_place == GemmResultPlace::nowhere) return 0;
  const GemmProblem& gemm = plan.gemm;
  const auto elements = [](std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(batch) * static_cast<double>(rows) * static_cast<double>(columns);
  };
  const double inputs = elements(gemm.batch, gemm.m, gemm.k) +
                        elements(gemm.w.batch == 0 ? 1 : gemm.batch, gemm.n, gemm.k);
  const double y = plan.taken_count > 0 && !plan.keeps_y ? 0 : elements(gemm.batch, gemm.m, gemm.n);
  return inputs * static_cast<double>(size_of(gemm.dtype)) +
         y * static_cast<double>(size_of(plan.compute_dtype));
}

}  // namespace detail
}  // namespace postlude
