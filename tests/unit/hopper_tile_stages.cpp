#include "gemm/hopper_tile_stages.hpp"

#include <string>

#include "plan/planner.hpp"
#include "program/lower.hpp"
#include "support/catch.hpp"
#include "support/programs.hpp"

using namespace postlude;
using namespace postlude::detail;
using namespace postlude::test;

namespace {

ExecutionPlan planned(const std::string& text, std::int64_t n) {
  constexpr std::int64_t m = 10;
  GemmProblem gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = 3;
  return make_execution_plan(lower(text, {1, m, n}, 3, operands_of_every_kind()), gemm,
                             ResultLayout::row_major);
}

/// How many of the first stages a tile runs.
int stages_on_tile(const std::string& text, std::int64_t n) {
  const ExecutionPlan plan = planned(text, n);
  if (!tile_refusal(plan.stages.front()).empty()) return 0;
  std::vector<const PlannedStage*> taken = {&plan.stages.front()};
  while (taken.size() < plan.stages.size() && can_follow_on_tile(plan.stages[taken.size()], taken))
    taken.push_back(&plan.stages[taken.size()]);
  return static_cast<int>(taken.size());
}

bool has_partials(const std::string& text, std::int64_t n) {
  return tile_stage_of(planned(text, n).stages.front()).has_partials();
}

}  // namespace

TEST_CASE("a tile finishes groups that fit into it", "[unit]") {
  for (const std::int64_t size : {2, 4, 8, 16, 32, 64, 128}) {
    INFO("groups of " << size);
    const std::string text = "group_norm(y + bias, groups=" + std::to_string(768 / size) + ")";
    CHECK(stages_on_tile(text, 768) == 2);
    CHECK(stages_on_tile("relu(" + text + ") * scale", 768) == 2);
    CHECK_FALSE(has_partials(text, 768));
  }
  // Of whole tiles, which are combined before anything reads them.
  CHECK(stages_on_tile("group_norm(y, groups=3)", 768) == 1);
  CHECK(has_partials("group_norm(y, groups=3)", 768));
  // Tiles have parts of groups.
  CHECK(stages_on_tile("group_norm(y, groups=32)", 768) == 0);
  CHECK(stages_on_tile("group_norm(y, groups=4)", 768) == 0);
}

TEST_CASE("a tile finishes lines that fit into it", "[unit]") {
  for (const char* const text : {"softmax(y + bias, dim=1)", "layer_norm(y, weight=bias)"}) {
    INFO(text);
    CHECK(stages_on_tile(text, 128) >= 2);
    CHECK(stages_on_tile(text, 3) >= 2);
    CHECK(stages_on_tile(text, 129) == 1);
  }
  CHECK(stages_on_tile("y - max(y, dim=0)", 128) == 1);
}

TEST_CASE("a tile takes windows that none other has a part of", "[unit]") {
  CHECK(stages_on_tile("max_pool(y, kernel=4)", 300) == 1);
  CHECK_FALSE(has_partials("max_pool(y, kernel=4)", 300));
  CHECK(stages_on_tile("max_pool(y, kernel=4, stride=2)", 300) == 0);
  CHECK(stages_on_tile("max_pool(y, kernel=3)", 300) == 0);
  // One window, which the elements of the next tile need as well.
  CHECK(stages_on_tile("y - max_pool(y, kernel=128)", 200) == 1);
}
