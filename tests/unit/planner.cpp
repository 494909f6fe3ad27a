#include "support/catch.hpp"

#include <algorithm>
#include <string>

#include "plan/gemm_choice.hpp"
#include "plan/planner.hpp"
#include "program/lower.hpp"
#include "support/errors.hpp"
#include "support/programs.hpp"

using namespace postlude;
using namespace postlude::test;
using postlude::detail::ExecutionPlan;
using postlude::detail::GemmResultPlace;
using postlude::detail::OperandRole;
using postlude::detail::PlannedStage;
using postlude::detail::Shape;
using postlude::detail::StageOperand;
using postlude::detail::SweepKind;

namespace {

constexpr std::int64_t m = 130;
constexpr std::int64_t n = 70;

ExecutionPlan planned(const Epilogue& epilogue, ResultLayout layout = ResultLayout::row_major) {
  detail::GemmProblem gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = 3;
  return detail::make_execution_plan(
      detail::lower(epilogue, {1, m, n}, 3, operands_of_every_kind()), gemm, layout);
}

bool reads_y(const PlannedStage& stage) {
  return std::any_of(stage.operands.begin(), stage.operands.end(), [](const StageOperand& operand) {
    return operand.role == OperandRole::gemm_result;
  });
}

std::int64_t passes_over_y(const ExecutionPlan& plan) {
  return std::count_if(plan.stages.begin(), plan.stages.end(), reads_y);
}

std::int64_t passes_over_matrices(const ExecutionPlan& plan) {
  return std::count_if(plan.stages.begin(), plan.stages.end(), [](const PlannedStage& stage) {
    return stage.domain == Shape{1, m, n};
  });
}

}  // namespace

namespace {

/// Stages that leave another value where y was.
std::int64_t keeping_stages(const ExecutionPlan& plan) {
  return std::count_if(plan.stages.begin(), plan.stages.end(), [](const PlannedStage& stage) {
    return std::any_of(stage.operands.begin(), stage.operands.end(),
                       [](const StageOperand& operand) {
                         return operand.role == OperandRole::gemm_result && operand.is_written;
                       });
  });
}

}  // namespace

TEST_CASE("what takes long is kept in y's place for later stages on a host", "[unit]") {
  for (const std::string text :
       {"softmax(gelu(y + bias), dim=1)", "softmax(tanh(y) * scale, dim=0)",
        "z = mish(y + residual); z / sum(z, dim=1)", "layer_norm(silu(y))",
        "return sum(gelu(y), dim=1), sum(gelu(y), dim=0)"}) {
    INFO(text);
    const ExecutionPlan plan = planned(text);
    REQUIRE(plan.stages.size() > 1);
    CHECK(keeping_stages(plan) == 1);
    CHECK(keeping_stages(planned(text, ResultLayout::any)) == 1);
    // The function is computed by the first stage only.
    CHECK(plan.stages.back().operation_count < 6);
  }
  // Of these a later stage needs y itself, or computes sooner than it reads.
  for (const std::string text :
       {"softmax(y + bias, dim=1)", "relu(y) / sum(relu(y), dim=1)", "gelu(y + bias)",
        "return softmax(gelu(y), dim=1), y", "softmax(gelu(y), dim=1) + y"}) {
    INFO(text);
    CHECK(keeping_stages(planned(text)) == 0);
  }
}

TEST_CASE("a pointwise epilogue is one pass over y, in place", "[unit]") {
  for (const std::string text :
       {"min(y + bias, c) - c", "gelu(y + bias) * scale + residual", "relu(y) + y",
        "where(y > bias, silu(y) * gain, tanh(y) / (scale * scale + 1))"}) {
    INFO(text);
    const ExecutionPlan plan = planned(text);
    REQUIRE(plan.stages.size() == 1);
    CHECK(plan.stages[0].sweep == SweepKind::pointwise);
    CHECK(plan.y_place == GemmResultPlace::result);
    CHECK(plan.workspace_bytes == 0);
  }
}

TEST_CASE("y alone needs no stage", "[unit]") {
  CHECK(planned("y").stages.empty());
  CHECK(planned("y", ResultLayout::column_major).stages.empty());
  CHECK(planned("y", ResultLayout::any).stages.size() == 1);
}

TEST_CASE("max over a dimension, minus the mean, gelu: y is read once", "[unit]") {
  for (const ResultLayout layout : {ResultLayout::row_major, ResultLayout::column_major})
    for (const std::string dim : {"0", "1"}) {
      INFO("dim=" << dim << ", layout " << static_cast<int>(layout));
      const ExecutionPlan plan =
          planned("m = max(y + bias, dim=" + dim + "); gelu(m - mean(m, dim=1))", layout);
      CHECK(passes_over_y(plan) == 1);
      CHECK(passes_over_matrices(plan) == 1);
      CHECK(plan.y_place == GemmResultPlace::workspace);
      const bool is_inner = (dim == "1") == (layout == ResultLayout::row_major);
      CHECK(plan.stages[0].sweep ==
            (is_inner ? SweepKind::inner_reduction : SweepKind::outer_reduction));
    }
}

TEST_CASE("reductions of one matrix over its contiguous dimension share a pass", "[unit]") {
  CHECK(passes_over_y(planned("return sum(y, dim=1), max(y, dim=1), var(y, dim=1)")) == 1);
  CHECK(passes_over_y(planned("max(y, dim=1) - min(y, dim=1)")) == 1);
}

TEST_CASE("a normalisation over rows takes one pass to reduce and one to finish", "[unit]") {
  const ExecutionPlan plan = planned("s = sqrt(var(y, dim=1) + 1e-5); (y - mean(y, dim=1)) / s");
  CHECK(passes_over_matrices(plan) == 2);
  CHECK(plan.y_place == GemmResultPlace::result);
}

TEST_CASE("stages that need only their own line of each other are joined", "[unit]") {
  const auto joined = [](const std::string& text, ResultLayout layout) {
    std::string pattern;
    for (const PlannedStage& stage : planned(text, layout).stages)
      pattern += stage.joins_previous ? '+' : '|';
    return pattern;
  };
  const ResultLayout rows = ResultLayout::row_major;
  const ResultLayout columns = ResultLayout::column_major;
  CHECK(joined("softmax(y, dim=1)", rows) == "|++");
  CHECK(joined("softmax(y, dim=0)", columns) == "|++");
  CHECK(joined("layer_norm(y)", rows) == "|+");
  // Across lines, every line is needed before the first can go on.
  CHECK(joined("softmax(y, dim=0)", rows) == "|||");
  CHECK(joined("softmax(y, dim=1)", columns) == "|||");
  CHECK(joined("batch_norm(y)", rows) == "|||");
  // In column-major order a group is several lines.
  CHECK(joined("group_norm(y, groups=7)", columns) == "|||");
  // The mean of the column is needed by every line of the second pass.
  CHECK(joined("y - mean(max(y, dim=1), dim=0)", rows) == "|||");
}

TEST_CASE("a program without y computes no GEMM", "[unit]") {
  const ExecutionPlan plan = planned("bias * scale + residual");
  CHECK(plan.y_place == GemmResultPlace::nowhere);
  CHECK(detail::gemm_flops(plan) == 0);
  CHECK(detail::gemm_flops(planned("y + 0")) == 2.0 * m * n * 3);
}

TEST_CASE("pieces of workspace do not overlap and are aligned", "[unit]") {
  const ExecutionPlan plan = planned(
      "a = max(y, dim=0); b = sum(y, dim=1); d = logsumexp(y - a, dim=0)\n"
      "return a * 2, b + a, d, (y - b) * d");
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  if (plan.y_place == GemmResultPlace::workspace)
    pieces.emplace_back(plan.y_offset, plan.y_offset + m * n * sizeof(float));
  std::size_t partials_end = 0;
  for (const PlannedStage& stage : plan.stages) {
    for (const StageOperand& operand : stage.operands)
      if (operand.role == OperandRole::intermediate && operand.is_written)
        pieces.emplace_back(
            operand.offset,
            operand.offset + static_cast<std::size_t>(operand.shape.elements()) * sizeof(double));
    if (stage.partials_bytes > 0) {
      CHECK(stage.partials_offset % detail::workspace_alignment == 0);
      partials_end = std::max(partials_end, stage.partials_offset + stage.partials_bytes);
      for (const auto& piece : pieces) CHECK(piece.second <= stage.partials_offset);
    }
  }
  CHECK(partials_end <= plan.workspace_bytes);
  std::sort(pieces.begin(), pieces.end());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    CHECK(pieces[i].first % detail::workspace_alignment == 0);
    CHECK(pieces[i].second <= plan.workspace_bytes);
    if (i > 0) CHECK(pieces[i - 1].second <= pieces[i].first);
  }
}

TEST_CASE("a program that is too large for a stage is refused with the limit", "[unit]") {
  std::string text = "v = y\n";
  for (int i = 0; i < 400; ++i) text += "v = relu(v) + " + std::to_string(i) + "\n";
  check_error(
      Status::unsupported, [&] { planned(text + "v"); }, "too large", "at most");

  Expression wide = y();
  for (int i = 0; i < 40; ++i) wide = wide * matrix("m" + std::to_string(i));
  check_error(
      Status::unsupported, [&] { planned(Epilogue(wide)); }, "too large", "arrays");
}

TEST_CASE("engines are taken in order, or by name, and a refusal has its reasons", "[unit]") {
  const auto candidates = [] {
    std::vector<detail::EngineCandidate> list(2);
    list[0].name = "fast";
    list[0].reason = "needs a device";
    list[1].name = "portable";
    list[1].accepts = true;
    list[1].workspace_bytes = 100;
    return list;
  };
  CHECK(detail::choose_engine(candidates(), "") == 1);
  CHECK(detail::choose_engine(candidates(), "portable") == 1);
  check_error(
      Status::unknown_name, [&] { detail::choose_engine(candidates(), "quick"); }, "'quick'",
      "fast, portable");
  check_error(
      Status::unsupported, [&] { detail::choose_engine(candidates(), "fast"); }, "needs a device");
  check_error(
      Status::unsupported,
      [&] {
        auto none = candidates();
        none[1].accepts = false;
        none[1].reason = "is asleep";
        detail::choose_engine(none, "");
      },
      "needs a device", "is asleep");

  // One that expects another to be faster comes after it, unless it is named or nobody else
  // accepts.
  auto modest = candidates();
  modest[0].accepts = true;
  modest[0].is_second_choice = true;
  CHECK(detail::choose_engine(modest, "") == 1);
  CHECK(detail::choose_engine(modest, "fast") == 0);
  modest[1].accepts = false;
  CHECK(detail::choose_engine(modest, "") == 0);

  ExecutionPlan plan = planned("y");
  const std::size_t before = plan.workspace_bytes;
  detail::place_engine(plan, candidates(), 1);
  CHECK(plan.chosen_engine == 1);
  CHECK(plan.engine_offset == before);
  CHECK(plan.workspace_bytes >= before + 100);
}

TEST_CASE("what a plan chose for its GEMM is text that can be read back", "[unit]") {
  detail::GemmProblem problem;
  problem.m = 3;
  problem.n = 5;
  problem.k = 7;
  problem.w = {0, 7, 1};
  const detail::GemmChoice choice{"cublaslt", detail::text_of(problem), "library-1 256=0a1b"};
  for (const std::string end : {"", "\n", "\nanother line"}) {
    const detail::GemmChoice read = detail::parse_gemm_choice(detail::to_text(choice) + end);
    CHECK(read.engine == choice.engine);
    CHECK(read.problem == choice.problem);
    CHECK(read.algorithms == choice.algorithms);
  }
  CHECK(detail::parse_gemm_choice("kokkos_kernels; f32; ").algorithms.empty());
  for (const std::string text : {"", "cublaslt", "cublaslt; f32", "\n; ; "})
    check_error(
        Status::invalid_argument, [&] { detail::parse_gemm_choice(text); }, "gemm_choice",
        "engine; problem; algorithms");
  detail::GemmProblem other = problem;
  other.w.row = 8;
  CHECK(detail::text_of(other) != detail::text_of(problem));
}

TEST_CASE("explain names the program, the engine, the stages and their cost", "[unit]") {
  ExecutionPlan plan = planned("m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))");
  detail::EngineCandidate engine;
  engine.name = "portable";
  engine.accepts = true;
  engine.reason = "packs x";
  detail::place_engine(plan, {engine}, 0);
  const std::string text = detail::explain(plan, plan.program);
  for (const std::string part : {"M = 130", "N = 70", "K = 3", "gelu", "portable", "packs x",
                                 "workspace", "FLOP", "stage 1", "bias"}) {
    INFO(part << " in\n" << text);
    CHECK(text.find(part) != std::string::npos);
  }
}
