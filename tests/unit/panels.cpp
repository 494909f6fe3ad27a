#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "program/lower.hpp"
#include "support/programs.hpp"
#include "support/small_panels.hpp"

using namespace postlude;
using namespace postlude::test;
using postlude::detail::ExecutionPlan;
using postlude::detail::Panel;
using postlude::detail::PanelCut;
using postlude::detail::StagePhase;

namespace {

struct Extents {
  std::int64_t batch = 1;
  std::int64_t m = 130;
  std::int64_t n = 70;
  std::int64_t k = 3;
};

/// y in panels of about so many bytes.
ExecutionPlan cut(const std::string& text, std::size_t bytes, const Extents& extents = {},
                  ResultLayout layout = ResultLayout::any, std::int64_t threads = 1,
                  bool threads_share_x = false) {
  detail::GemmProblem gemm;
  gemm.batch = extents.batch;
  gemm.m = extents.m;
  gemm.n = extents.n;
  gemm.k = extents.k;
  detail::EngineCandidate engine;
  engine.threads_alone = threads;
  engine.threads_share_x = threads_share_x;
  const SmallPanels small(bytes, threads > 1);
  ExecutionPlan plan = detail::make_execution_plan(
      detail::lower(text, {gemm.batch, gemm.m, gemm.n}, gemm.k, operands_of_every_kind()), gemm,
      layout);
  detail::cut_into_panels(plan, engine);
  return plan;
}

std::string phases(const ExecutionPlan& plan) {
  std::string text;
  for (const StagePhase phase : plan.panels.phases)
    text += phase == StagePhase::before ? '<' : phase == StagePhase::panel ? '=' : '>';
  return text;
}

}  // namespace

TEST_CASE("panels are cut along what a program does not reduce", "[unit]") {
  const auto cut_of = [](const std::string& text) { return cut(text, 4096).panels.cut; };
  CHECK(cut_of("sum(y, dim=1)") == PanelCut::rows);
  CHECK(cut_of("softmax(y, dim=1)") == PanelCut::rows);
  CHECK(cut_of("group_norm(y, groups=7)") == PanelCut::rows);
  CHECK(cut_of("sum(max_pool(y, kernel=4, stride=3), dim=1)") == PanelCut::rows);
  CHECK(cut_of("max(y, dim=0)") == PanelCut::columns);
  CHECK(cut_of("batch_norm(y)") == PanelCut::columns);
  // 130 rows of x are packed again for another panel of columns, 70 of w for one of rows.
  CHECK(cut_of("relu(y)") == PanelCut::rows);
  CHECK(cut_of("y - mean(y, dim=0) - mean(y, dim=1)") == PanelCut::none);
}

TEST_CASE("stages run before the panels, on each, or after them", "[unit]") {
  CHECK(phases(cut("m = max(y, dim=0); gelu(m - mean(m, dim=1))", 4096)) == "=>>");
  CHECK(phases(cut("m = max(y, dim=1); gelu(m)", 4096)) == "==");
  CHECK(phases(cut("softmax(y, dim=1)", 4096)) == "===");
  CHECK(phases(cut("y * mean(bias, dim=1)", 4096)) == "<=");
  CHECK(phases(cut("mean(max(y, dim=1), dim=0)", 4096)) == "=>");
}

TEST_CASE("panels cover y, each element once", "[unit]") {
  const Extents list[] = {{1, 130, 70, 3}, {1, 7, 1000, 5}, {1, 1000, 7, 5}, {5, 33, 9, 2},
                          {3, 1, 500, 1},  {3, 500, 1, 1},  {1, 1, 999, 0},  {70, 2, 2, 1}};
  const std::string texts[] = {"relu(y)", "sum(y, dim=0)", "sum(y, dim=1)", "softmax(y, dim=1)"};
  for (const Extents& extents : list)
    for (const std::string& text : texts)
      for (const std::size_t bytes : {std::size_t(1), std::size_t(60), std::size_t(700)}) {
        const ExecutionPlan plan = cut(text, bytes, extents);
        INFO(detail::explain(plan, plan.program));
        if (plan.panels.cut == PanelCut::none) continue;
        std::vector<int> covered(static_cast<std::size_t>(extents.batch * extents.m * extents.n),
                                 0);
        const detail::GemmProblem largest = detail::gemm_of_panel(plan);
        for (const Panel& panel : detail::panels_of(plan)) {
          CHECK(panel.batches <= largest.batch);
          CHECK(panel.rows <= largest.m);
          CHECK(panel.columns <= largest.n);
          for (std::int64_t b = panel.batch; b < panel.batch + panel.batches; ++b)
            for (std::int64_t m = panel.row; m < panel.row + panel.rows; ++m)
              for (std::int64_t n = panel.column; n < panel.column + panel.columns; ++n)
                ++covered.at(static_cast<std::size_t>((b * extents.m + m) * extents.n + n));
        }
        CHECK(std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; }));
      }
}

TEST_CASE("a plan that must hold all of y says why", "[unit]") {
  const ExecutionPlan plan = cut("sum(y - mean(y, dim=0), dim=1)", 4096);
  CHECK(plan.panels.cut == PanelCut::none);
  INFO(detail::explain(plan, plan.program));
  CHECK(plan.panels.reason.find("stage 1 takes all rows together") != std::string::npos);
  CHECK(detail::explain(plan, plan.program).find("all of y is kept") != std::string::npos);
}

TEST_CASE("threads that share what was made of x have panels of columns only", "[unit]") {
  const auto by_threads = [](std::int64_t m, std::int64_t n) {
    return cut("relu(y)", std::size_t(1) << 30, {1, m, n, 3}, ResultLayout::any, 4, true).panels;
  };
  CHECK(by_threads(130, 700).cut == PanelCut::columns);
  CHECK(by_threads(130, 700).is_by_threads);
  CHECK_FALSE(by_threads(700, 130).is_by_threads);
}

TEST_CASE("threads have panels of their own where the other dimension is short", "[unit]") {
  const std::size_t ample = std::size_t(1) << 40;
  const auto by_threads = [&](const std::string& text, const Extents& extents,
                              std::int64_t threads) {
    return cut(text, ample, extents, ResultLayout::any, threads);
  };
  const ExecutionPlan plan = by_threads("relu(y + bias)", {1, 130, 700, 3}, 4);
  CHECK(plan.panels.is_by_threads);
  CHECK(plan.panels.cut == PanelCut::columns);
  CHECK(plan.panels.size == 16);
  CHECK(plan.workspace_bytes == 4 * ((130 * 16 * sizeof(float) + 255) / 256 * 256));
  CHECK(by_threads("relu(y)", {1, 700, 130, 3}, 4).panels.cut == PanelCut::rows);
  CHECK(by_threads("max(y, dim=0)", {1, 130, 700, 3}, 4).panels.is_by_threads);
  // Each thread has to have work, reductions to be whole, and packing not to outweigh the work.
  CHECK_FALSE(by_threads("relu(y)", {1, 130, 700, 3}, 1).panels.is_by_threads);
  CHECK_FALSE(by_threads("softmax(y, dim=1)", {1, 130, 700, 3}, 4).panels.is_by_threads);
  CHECK_FALSE(by_threads("relu(y)", {1, 300, 700, 3}, 4).panels.is_by_threads);
  CHECK_FALSE(by_threads("relu(y)", {1, 3, 700, 3}, 4).panels.is_by_threads);
  CHECK(detail::lines_by_threads(4096, 128, 16) == 128);
  CHECK(detail::lines_by_threads(4000, 128, 16) == 128);
  CHECK(detail::lines_by_threads(256, 128, 16) == 0);
}

TEST_CASE("panels that would make the GEMM slower are not cut", "[unit]") {
  // A panel of a few rows packs all of w again.
  CHECK(cut("relu(y)", 10000, {1, 130, 70, 1000}, ResultLayout::row_major).panels.cut ==
        PanelCut::none);
  CHECK(cut("relu(y)", 10000, {1, 130, 70, 3}, ResultLayout::row_major).panels.cut !=
        PanelCut::none);
}

TEST_CASE("what one panel leaves for its own later stages takes the place of one", "[unit]") {
  const std::string text = "sum(max_pool(y, kernel=2), dim=1)";
  const ExecutionPlan plan = cut(text, 4096);
  const std::size_t whole = cut(text, std::size_t(1) << 40).workspace_bytes;
  CHECK(plan.workspace_bytes < whole / 4);
  for (const detail::PlannedStage& stage : plan.stages)
    for (const detail::StageOperand& operand : stage.operands)
      CHECK(operand.offset < plan.workspace_bytes);
}
