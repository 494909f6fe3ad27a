#include <cmath>
#include <string>

#include "expression/number_text.hpp"
#include "expression/signature.hpp"
#include "plan/planner.hpp"

namespace postlude {
namespace detail {
namespace {

/// "1.07 GB", "68.7 GFLOP": three digits and a decimal prefix.
std::string quantity(double value, const char* unit) {
  static const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  while (value >= 999.5 && prefix < 5) {
    value /= 1000;
    ++prefix;
  }
  return number_text(value, 3) + " " + prefixes[prefix] + unit;
}

bool is_host(Backend backend) {
  return backend == Backend::serial || backend == Backend::openmp || backend == Backend::threads;
}

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

std::string stage_text(const ExecutionPlan& plan, std::size_t index) {
  const PlannedStage& stage = plan.stages[index];
  std::string reads;
  std::string writes;
  double bytes = 0;
  for (const StageOperand& operand : stage.operands) {
    std::string& list = operand.is_written ? writes : reads;
    list += (list.empty() ? "" : ", ") + operand_name(plan, operand);
    bytes += static_cast<double>(operand.shape.elements()) *
             static_cast<double>(element_bytes(plan, operand));
  }
  std::string text = "  stage " + std::to_string(index + 1) + ": " + sweep_name(stage.sweep) +
                     " over " + to_string(stage.domain) + ", " +
                     std::to_string(stage.operation_count) +
                     (stage.operation_count == 1 ? " operation" : " operations") + " an element";
  if (stage.window_count > 0)
    text += " in " + std::to_string(stage.window_count) + " windows of " +
            std::to_string(stage.window_size) + " columns";
  for (int i = 0; i < stage.stage.reduction_count; ++i)
    text += (i == 0 ? "; reduces with " : ", ") + signature_of(stage.stage.reductions[i].kind).name;
  text += "\n           reads " + (reads.empty() ? "nothing" : reads) + "; writes " + writes +
          "; " + quantity(bytes, "B") + ", " +
          quantity(static_cast<double>(stage.domain.elements()) * stage.operation_count, "FLOP");
  if (index == 0 && !plan.engines.empty() && !plan.engines[plan.chosen_engine].taken_in.empty())
    text += "; by the GEMM as it writes, y is not written";
  if (stage.joins_previous && is_host(plan.gemm.backend))
    text += "; on each line right after the stage before";
  if (stage.sweep == SweepKind::outer_reduction)
    text += "; " + std::to_string(stage.chunks) + " chunks, " +
            quantity(static_cast<double>(stage.partials_bytes), "B") + " of partial results";
  return text + "\n";
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

}  // namespace

std::string explain(const ExecutionPlan& plan) {
  const GemmProblem& gemm = plan.gemm;
  std::string text = "problem\n  y = x w^T: batch M = " + std::to_string(gemm.m) +
                     ", out_features N = " + std::to_string(gemm.n) +
                     ", in_features K = " + std::to_string(gemm.k);
  if (gemm.batch != 1) text += ", " + std::to_string(gemm.batch) + " problems";
  text += std::string(", ") + name_of(gemm.dtype) + ", backend " + name_of(gemm.backend) + "\n";

  text += "program\n";
  const std::string program = to_string(plan.program);
  for (std::size_t begin = 0; begin < program.size();) {
    const std::size_t end = program.find('\n', begin);
    text += "  " + program.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }

  text += "engines\n";
  for (std::size_t i = 0; i < plan.engines.size(); ++i) {
    const EngineCandidate& engine = plan.engines[i];
    text += "  " + engine.name + ": " +
            (i == plan.chosen_engine ? "chosen" : (engine.accepts ? "possible" : "refused")) +
            " (" + engine.reason +
            (engine.taken_in.empty() ? "" : "; takes in stage 1: " + engine.taken_in) + ")\n";
  }

  text += "stages\n  GEMM: " + y_text(plan) + "; " + quantity(gemm_flops(plan), "FLOP") + "\n";
  for (std::size_t i = 0; i < plan.stages.size(); ++i) text += stage_text(plan, i);
  text += "totals\n  GEMM " + quantity(gemm_flops(plan), "FLOP") + ", at least " +
          quantity(minimum_bytes(plan), "B") + " of inputs and results, workspace " +
          quantity(static_cast<double>(plan.workspace_bytes), "B") + "\n";
  return text;
}

}  // namespace detail
}  // namespace postlude
