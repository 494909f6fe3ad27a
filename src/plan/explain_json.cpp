#include <string>
#include <vector>

#include "expression/signature.hpp"
#include "plan/json_text.hpp"
#include "plan/planner.hpp"
#include "plan/stage_work.hpp"

namespace postlude {
namespace detail {
namespace {

std::string integer(std::int64_t number) { return std::to_string(number); }

std::string shape_json(const Shape& shape) {
  return json_array({integer(shape.batch), integer(shape.rows), integer(shape.columns)});
}

/// The lines of a text, as an array of strings.
std::string lines_json(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(json_string(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return json_array(lines);
}

std::string rewrites_json(const ExecutionPlan& plan) {
  std::vector<std::string> list;
  for (const AppliedRewrite& rewrite : plan.rewrites)
    list.push_back(json_object({{"name", json_string(rewrite.name)},
                                {"before", json_string(rewrite.before)},
                                {"after", json_string(rewrite.after)},
                                {"reason", json_string(rewrite.reason)},
                                {"saved", json_string(rewrite.saved)}}));
  return json_array(list);
}

std::string engines_json(const ExecutionPlan& plan) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < plan.engines.size(); ++i) {
    const EngineCandidate& engine = plan.engines[i];
    const char* answer =
        i == plan.chosen_engine ? "chosen" : (engine.accepts ? "possible" : "refused");
    list.push_back(json_object({{"name", json_string(engine.name)},
                                {"answer", json_string(answer)},
                                {"reason", json_string(engine.reason)}}));
  }
  return json_array(list);
}

std::string stage_json(const ExecutionPlan& plan, const PlannedStage& stage) {
  std::vector<std::string> reads;
  std::vector<std::string> writes;
  for (const StageOperand& operand : stage.operands)
    (operand.is_written ? writes : reads).push_back(json_string(operand_name(plan, operand)));
  std::vector<std::string> reductions;
  for (int i = 0; i < stage.stage.reduction_count; ++i)
    reductions.push_back(json_string(signature_of(stage.stage.reductions[i].kind).name));
  return json_object({{"sweep", json_string(sweep_name(stage.sweep))},
                      {"domain", shape_json(stage.domain)},
                      {"operations", integer(stage.operation_count)},
                      {"reductions", json_array(reductions)},
                      {"reads", json_array(reads)},
                      {"writes", json_array(writes)},
                      {"bytes", json_number(stage_bytes(plan, stage))},
                      {"flops", json_number(stage_flops(stage))}});
}

}  // namespace

std::string explain_json(const ExecutionPlan& plan, const Program& written) {
  const GemmProblem& gemm = plan.gemm;
  std::vector<std::string> stages;
  for (const PlannedStage& stage : plan.stages) stages.push_back(stage_json(plan, stage));
  return json_object(
             {{"problem", json_object({{"m", integer(gemm.m)},
                                       {"n", integer(gemm.n)},
                                       {"k", integer(gemm.k)},
                                       {"batch", integer(gemm.batch)},
                                       {"dtype", json_string(name_of(gemm.dtype))},
                                       {"backend", json_string(name_of(gemm.backend))}})},
              {"written", lines_json(to_string(written))},
              {"rewrites", rewrites_json(plan)},
              {"executed", lines_json(to_string(plan.program))},
              {"engines", engines_json(plan)},
              {"y", json_string(y_text(plan))},
              {"stages", json_array(stages)},
              {"gemm_flops", json_number(gemm_flops(plan))},
              {"minimum_bytes", json_number(minimum_bytes(plan))},
              {"workspace_bytes", integer(static_cast<std::int64_t>(plan.workspace_bytes))}}) +
         "\n";
}

}  // namespace detail
}  // namespace postlude
