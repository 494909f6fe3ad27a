#include "gemm/vendor_epilogue.hpp"

#include <optional>
#include <string>

#include "plan/planner.hpp"
#include "program/lower.hpp"
#include "support/catch.hpp"

using namespace postlude;
using detail::as_vendor_epilogue;
using detail::ExecutionPlan;
using detail::OperandAccess;
using detail::PlannedStage;
using detail::Stage;
using detail::StageOperand;
using detail::VendorEpilogue;

namespace {

constexpr std::int64_t m = 6;
constexpr std::int64_t n = 10;

ExecutionPlan planned(const std::string& text, ResultLayout layout = ResultLayout::row_major) {
  detail::GemmProblem gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = 3;
  return detail::make_execution_plan(detail::lower(text, {1, m, n}, 3,
                                                   {{"row", OperandKind::row},
                                                    {"column", OperandKind::column},
                                                    {"matrix", OperandKind::matrix},
                                                    {"number", OperandKind::scalar}}),
                                     gemm, layout);
}

/// The stage on contiguous arrays, whose addresses are their numbers.
Stage bound(const PlannedStage& planned) {
  Stage stage = planned.stage;
  for (std::size_t i = 0; i < planned.operands.size(); ++i) {
    const StageOperand& operand = planned.operands[i];
    OperandAccess& access = stage.operands[i];
    access.data = reinterpret_cast<void*>(256 * (i + 1));
    const std::int64_t row = operand.shape.rows == 1 ? 0 : operand.shape.columns;
    const std::int64_t column = operand.shape.columns == 1 ? 0 : 1;
    access.stride_outer = planned.inner_is_rows ? column : row;
    access.stride_inner = planned.inner_is_rows ? row : column;
  }
  return stage;
}

std::optional<VendorEpilogue> read(const std::string& text) {
  const ExecutionPlan plan = planned(text, ResultLayout::any);
  REQUIRE(plan.stages.size() == 1);
  return as_vendor_epilogue(plan.stages[0], bound(plan.stages[0]));
}

}  // namespace

TEST_CASE("a stage that a vendor's GEMM can compute is recognised", "[unit]") {
  struct Case {
    const char* text;
    bool has_bias;
    const char* words;
  };
  const Case cases[] = {
      {"y", false, "the conversion of y"}, {"y + row", true, "bias"}, {"row + y", true, "bias"}};
  for (const Case& each : cases) {
    INFO(each.text);
    const std::optional<VendorEpilogue> epilogue = read(each.text);
    REQUIRE(epilogue.has_value());
    CHECK(epilogue->has_bias == each.has_bias);
    CHECK((epilogue->bias != nullptr) == each.has_bias);
    CHECK(to_string(*epilogue) == each.words);
    CHECK(epilogue->strides.row == n);
    CHECK(epilogue->strides.column == 1);
    CHECK(epilogue->result != nullptr);
    CHECK(epilogue->result != epilogue->bias);
  }
}

TEST_CASE("a stage that is more than a vendor's GEMM can compute is left to a sweep", "[unit]") {
  for (const std::string text : {"y + column",
                                 "y + matrix",
                                 "y + number",
                                 "y - row",
                                 "row - y",
                                 "y * row",
                                 "gelu(y + row)",
                                 "relu(y) + row",
                                 "relu(y + row + row)",
                                 "relu(relu(y) + row)",
                                 "relu(y + row) * 2",
                                 "relu(y)",
                                 "relu(y + row)",
                                 "gelu_tanh(y)",
                                 "gelu_tanh(row + y)",
                                 "relu(y + row) + y",
                                 "y + row + row",
                                 "z = relu(y + row); return z, y",
                                 "relu(row)",
                                 "row + row",
                                 "tanh(y)",
                                 "max(y + row, 0)"}) {
    INFO(text);
    const ExecutionPlan plan = planned(text, ResultLayout::any);
    CHECK_FALSE(as_vendor_epilogue(plan.stages[0], bound(plan.stages[0])).has_value());
  }
  const ExecutionPlan reduction = planned("sum(relu(y + row), dim=1)");
  CHECK_FALSE(as_vendor_epilogue(reduction.stages[0], bound(reduction.stages[0])).has_value());
}

TEST_CASE("a bias with gaps, or of another dtype than the result, is left to a sweep", "[unit]") {
  const ExecutionPlan plan = planned("y + row", ResultLayout::any);
  const PlannedStage& planned = plan.stages[0];
  for (std::size_t i = 0; i < planned.operands.size(); ++i) {
    if (planned.operands[i].role != detail::OperandRole::operand) continue;
    Stage stage = bound(planned);
    REQUIRE(as_vendor_epilogue(planned, stage).has_value());
    stage.operands[i].stride_inner = 2;
    CHECK_FALSE(as_vendor_epilogue(planned, stage).has_value());
    stage = bound(planned);
    stage.operands[i].stride_inner = -1;
    CHECK_FALSE(as_vendor_epilogue(planned, stage).has_value());
    stage = bound(planned);
    stage.operands[i].dtype = DataType::float64;
    CHECK_FALSE(as_vendor_epilogue(planned, stage).has_value());
    stage = bound(planned);
    stage.batch = 2;
    CHECK(as_vendor_epilogue(planned, stage).has_value());
    stage.operands[i].stride_batch = n;
    CHECK_FALSE(as_vendor_epilogue(planned, stage).has_value());
  }
}
