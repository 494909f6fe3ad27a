#include <nlohmann/json.hpp>
#include <string>

#include "plan/planner.hpp"
#include "plan/stage_description.hpp"

namespace postlude {
namespace detail {
namespace {

using nlohmann::json;

json extents(const Shape& shape) { return {shape.batch, shape.rows, shape.columns}; }

json lines_of(const std::string& text) {
  json lines = json::array();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return lines;
}

json rewrite_json(const AppliedRewrite& rewrite) {
  return {{"name", rewrite.name},
          {"before", rewrite.before},
          {"after", rewrite.after},
          {"reason", rewrite.reason},
          {"saved", rewrite.saved}};
}

json shortcut_json(const Shortcut& shortcut) {
  json object = {{"condition", shortcut.condition},
                 {"decided_on", shortcut.is_decided_on_device ? "device" : "host"},
                 {"bytes", shortcut.bytes},
                 {"bytes_with_prepared_weights", shortcut.bytes_with_prepared_weights},
                 {"rewrites", json::array()},
                 {"program", lines_of(to_string(shortcut.program))}};
  for (const AppliedRewrite& rewrite : shortcut.rewrites)
    object["rewrites"].push_back(rewrite_json(rewrite));
  return object;
}

json engine_json(const ExecutionPlan& plan, std::size_t index) {
  const EngineCandidate& engine = plan.engines[index];
  json object = {{"name", engine.name},
                 {"state", state_of_engine(plan, index)},
                 {"reason", engine.reason},
                 {"workspace_bytes", engine.workspace_bytes}};
  if (!engine.taken_in.empty()) object["takes_in"] = engine.taken_in;
  if (!engine.leaves_out.empty()) object["leaves_out"] = engine.leaves_out;
  return object;
}

json stage_json(const ExecutionPlan& plan, std::size_t index) {
  const PlannedStage& stage = plan.stages[index];
  const StageDescription description = describe_stage(plan, index);
  json object = {{"sweep", description.sweep},
                 {"domain", extents(stage.domain)},
                 {"operations_an_element", stage.operation_count},
                 {"reductions", description.reductions},
                 {"reads", description.reads},
                 {"writes", description.writes},
                 {"bytes", description.bytes},
                 {"flops", description.flops},
                 {"is_taken_in", description.is_taken_in},
                 {"is_on_panels", description.is_on_panels}};
  if (stage.window_count > 0)
    object["windows"] = {{"count", stage.window_count},
                         {"columns", stage.window_size},
                         {"distance", stage.window_step}};
  if (stage.sweep == SweepKind::outer_reduction) object["partial_bytes"] = stage.partials_bytes;
  return object;
}

}  // namespace

std::string explain_json(const ExecutionPlan& plan, const Program& written) {
  const GemmProblem& gemm = plan.gemm;
  json object = {
      {"schema", 1},
      {"problem",
       {{"batch", gemm.batch},
        {"m", gemm.m},
        {"n", gemm.n},
        {"k", gemm.k},
        {"dtype", name_of(gemm.dtype)},
        {"compute", name_of(gemm.compute)},
        {"backend", name_of(gemm.backend)}}},
      {"written", lines_of(to_string(written))},
      {"rewrites", json::array()},
      {"program", lines_of(to_string(plan.program))},
      {"engines", json::array()},
      {"gemm", {{"y", describe_y(plan)}, {"flops", gemm_flops(plan)}, {"bytes", gemm_bytes(plan)}}},
      {"stages", json::array()},
      {"totals",
       {{"gemm_flops", gemm_flops(plan)},
        {"minimum_bytes", minimum_bytes(plan)},
        {"workspace_bytes", plan.workspace_bytes}}}};
  for (const AppliedRewrite& rewrite : plan.rewrites)
    object["rewrites"].push_back(rewrite_json(rewrite));
  object["shortcut"] = nullptr;
  if (plan.shortcut) object["shortcut"] = shortcut_json(*plan.shortcut);
  if (!plan.shortcut_refusal.empty()) object["shortcut_refusal"] = plan.shortcut_refusal;
  for (std::size_t i = 0; i < plan.engines.size(); ++i)
    object["engines"].push_back(engine_json(plan, i));
  for (std::size_t i = 0; i < plan.stages.size(); ++i)
    object["stages"].push_back(stage_json(plan, i));
  // Names may have bytes that are not UTF-8.
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace detail
}  // namespace postlude
