#include <cmath>
#include <string>
#include <vector>

#include "expression/number_text.hpp"
#include "plan/planner.hpp"
#include "plan/stage_description.hpp"

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

std::string joined(const std::vector<std::string>& words, const char* when_empty) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? when_empty : text;
}

std::string stage_text(const ExecutionPlan& plan, std::size_t index) {
  const PlannedStage& stage = plan.stages[index];
  const StageDescription description = describe_stage(plan, index);
  std::string text = "  stage " + std::to_string(index + 1) + ": " + description.sweep + " over " +
                     to_string(stage.domain) + ", " + std::to_string(stage.operation_count) +
                     (stage.operation_count == 1 ? " operation" : " operations") + " an element";
  if (stage.window_count > 0)
    text += " in " + std::to_string(stage.window_count) + " windows of " +
            std::to_string(stage.window_size) + " columns";
  if (!description.reductions.empty())
    text += "; reduces with " + joined(description.reductions, "");
  text += "\n           reads " + joined(description.reads, "nothing") + "; writes " +
          joined(description.writes, "nothing") + "; " + quantity(description.bytes, "B") + ", " +
          quantity(description.flops, "FLOP");
  if (description.is_taken_in)
    text +=
        plan.keeps_y ? "; by the GEMM, which writes y as well" : "; by the GEMM, y is not written";
  if (description.is_on_panels) text += "; on each panel of y";
  if (description.follows_on_each_line) text += "; on each line right after the stage before";
  if (stage.sweep == SweepKind::outer_reduction)
    text += "; " + std::to_string(stage.chunks) + " chunks, " +
            quantity(static_cast<double>(stage.partials_bytes), "B") + " of partial results";
  return text + "\n";
}

/// "stage 1" or "stages 1 to 2".
std::string taken_text(const ExecutionPlan& plan) {
  const std::string first = std::to_string(plan.taken_stage + 1);
  if (plan.taken_count == 1) return "stage " + first;
  return "stages " + first + " to " + std::to_string(plan.taken_stage + plan.taken_count);
}

/// Every line two places to the right.
std::string indented(const std::string& lines) {
  std::string text;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    text += "  " + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

std::string rewrite_text(const AppliedRewrite& rewrite) {
  return "  " + rewrite.name + ": " + rewrite.before + " -> " + rewrite.after + "\n    " +
         rewrite.reason + (rewrite.saved.empty() ? "" : "; saves " + rewrite.saved) + "\n";
}

}  // namespace

std::string explain(const ExecutionPlan& plan, const Program& written) {
  const GemmProblem& gemm = plan.gemm;
  std::string text = "problem\n  y = x w^T: batch M = " + std::to_string(gemm.m) +
                     ", out_features N = " + std::to_string(gemm.n) +
                     ", in_features K = " + std::to_string(gemm.k);
  if (gemm.batch != 1) text += ", " + std::to_string(gemm.batch) + " problems";
  text += std::string(", ") + name_of(gemm.dtype) + ", backend " + name_of(gemm.backend) + "\n";

  const std::string before = to_string(written);
  const std::string after = to_string(plan.program);
  if (before == after) {
    text += "program\n" + indented(before);
  } else {
    text += "program as written\n" + indented(before);
    if (!plan.rewrites.empty()) text += "rewrites\n";
    for (const AppliedRewrite& rewrite : plan.rewrites) text += rewrite_text(rewrite);
    text += "program as executed\n" + indented(after);
  }

  if (plan.shortcut) {
    text += "shortcut without the GEMM, taken by executions with " + plan.shortcut->condition +
            ", no NaN among them\n";
    text += "  reads and writes " + quantity(plan.shortcut->bytes, "B") + ", " +
            quantity(plan.shortcut->bytes_with_prepared_weights, "B") + " with prepared weights\n";
    if (plan.shortcut->is_decided_on_device)
      text +=
          "  decided on the device: the GEMM and the stages are enqueued all the same, and do "
          "nothing where it is taken\n";
    for (const AppliedRewrite& rewrite : plan.shortcut->rewrites) text += rewrite_text(rewrite);
    text += "  program\n" + indented(indented(to_string(plan.shortcut->program)));
  }

  if (!plan.shortcut_refusal.empty())
    text += "no shortcut without the GEMM: " + plan.shortcut_refusal + "\n";

  text += "engines\n";
  for (std::size_t i = 0; i < plan.engines.size(); ++i) {
    const EngineCandidate& engine = plan.engines[i];
    text +=
        "  " + engine.name + ": " + state_of_engine(plan, i) + " (" + engine.reason +
        (engine.taken_in.empty() ? "" : "; takes in " + taken_text(plan) + ": " + engine.taken_in) +
        (engine.leaves_out.empty()
             ? ""
             : std::string("; leaves ") +
                   (engine.taken_in.empty() ? "the stages" : "the next stage") +
                   " to sweeps: " + engine.leaves_out) +
        ")\n";
  }

  text += "stages\n  GEMM: " + describe_y(plan) + "; " + quantity(gemm_flops(plan), "FLOP") + "\n";
  for (std::size_t i = 0; i < plan.stages.size(); ++i) text += stage_text(plan, i);
  text += "totals\n  GEMM " + quantity(gemm_flops(plan), "FLOP") + ", at least " +
          quantity(minimum_bytes(plan), "B") + " of inputs and results, workspace " +
          quantity(static_cast<double>(plan.workspace_bytes), "B") + "\n";
  return text;
}

}  // namespace detail
}  // namespace postlude
