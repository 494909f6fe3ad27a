#include "program/guarded/guarded_program.hpp"

#include <string>
#include <vector>

#include "program/lower.hpp"
#include "program/rewrites/apply_rewrites.hpp"
#include "support/catch.hpp"

using namespace postlude;
using postlude::detail::GuardedProgram;
using postlude::detail::Program;

namespace {

std::optional<GuardedProgram> guarded(const std::string& text,
                                      DataType arithmetic = DataType::float32,
                                      const std::vector<std::string>& without = {}) {
  const std::vector<OperandDeclaration> operands = {{"bias", OperandKind::row},
                                                    {"scale", OperandKind::column},
                                                    {"residual", OperandKind::matrix},
                                                    {"c", OperandKind::scalar},
                                                    {"gain", OperandKind::element}};
  const auto left_out = detail::rewrites_left_out(without);
  const Program program =
      detail::apply_rewrites(detail::lower(Epilogue(text), {1, 50, 70}, 30, operands), arithmetic,
                             left_out)
          .program;
  return detail::find_guarded_program(program, arithmetic, left_out);
}

std::vector<std::string> bounded(const GuardedProgram& program) {
  std::vector<std::string> names;
  for (const std::size_t index : program.bounded_operands)
    names.push_back(program.program.operands[index].name);
  return names;
}

const char* const s2 = "m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))";

}  // namespace

TEST_CASE("a value less the mean of itself alone is 0 where it is finite", "[unit]") {
  for (const DataType arithmetic : {DataType::float32, DataType::float64}) {
    const auto program = guarded(s2, arithmetic);
    REQUIRE(program);
    CHECK_FALSE(program->program.uses_y());
    CHECK(bounded(*program) == std::vector<std::string>{"bias"});
    CHECK(program->limit >= 1e20);
    CHECK(program->sum_over_columns == -1);
    const detail::Value& result =
        program->program.values[static_cast<std::size_t>(program->program.results[0].value)];
    CHECK(result.shape == detail::Shape{1, 50, 1});
    CHECK(program->applied[0].name == "vanishing_differences");
  }
  // Over dim 0 there are several maxima in a row of them.
  CHECK_FALSE(guarded("m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))"));
  CHECK_FALSE(guarded(s2, DataType::float32, {"vanishing_differences"}));
  CHECK_FALSE(guarded(s2, DataType::float32, {"all"}));
}

TEST_CASE("a difference that may be -0 is not taken for 0 where that can be seen", "[unit]") {
  // m = -0 gives -0 - (-0 + 0) = -0.
  CHECK_FALSE(guarded("m = max(y, dim=1); m - mean(m, dim=1)"));
  CHECK_FALSE(guarded("m = max(y, dim=1); 1 / (m - mean(m, dim=1))"));
  CHECK(guarded("m = max(y, dim=1); mean(m, dim=1) - m"));
  CHECK(guarded("m = amax(y, dim=1); 1 / (m - mean(m, dim=1))"));
  CHECK(guarded("m = max(y, dim=1); abs(m - mean(m, dim=1))"));
}

TEST_CASE("what can overflow within any limit has no proof", "[unit]") {
  CHECK_FALSE(guarded("m = max(exp(exp(exp(y))), dim=1); abs(m - mean(m, dim=1))"));
  CHECK_FALSE(guarded("m = max(1 / y, dim=1); abs(m - mean(m, dim=1))"));
  CHECK_FALSE(guarded("m = max(log(y), dim=1); abs(m - mean(m, dim=1))"));
  const auto squares = guarded("m = max(square(square(y)), dim=1); abs(m - mean(m, dim=1))");
  REQUIRE(squares);
  CHECK(squares->limit <= 0x1p32);
}

TEST_CASE("sums of affine functions of y need no y", "[unit]") {
  for (const char* text :
       {"sum(y, dim=1)", "mean(y + bias, dim=1)", "sum(-y * scale + residual, dim=1)",
        "sum((y - bias) / 3 + gain, dim=1) * 1.5",
        "gelu(logsumexp(mean(y + bias, dim=1), dim=1)) + residual"}) {
    INFO(text);
    const auto program = guarded(text);
    REQUIRE(program);
    CHECK_FALSE(program->program.uses_y());
    CHECK(program->sum_over_columns >= 5);
    CHECK(program->sum_over_rows == -1);
    CHECK(program->applied[0].name == "sums_of_products");
  }
  const auto over_rows = guarded("sum(y * bias + scale, dim=0)");
  REQUIRE(over_rows);
  CHECK(over_rows->sum_over_rows >= 5);
  CHECK(over_rows->sum_over_columns == -1);
  CHECK(bounded(*over_rows) == std::vector<std::string>{"bias", "scale"});
  const auto both = guarded("return sum(y, dim=0), mean(y, dim=1)");
  REQUIRE(both);
  CHECK(both->sum_over_rows >= 5);
  CHECK(both->sum_over_columns >= 5);
  CHECK_FALSE(guarded("sum(y, dim=1)", DataType::float32, {"sums_of_products"}));
}

TEST_CASE("sums of other functions of y need it", "[unit]") {
  for (const char* text :
       {"sum(relu(y), dim=1)", "sum(y * bias, dim=1)", "sum(y * y, dim=0)", "max(y, dim=1)",
        "sum(c / y, dim=1)", "return sum(y, dim=1), y", "sum(y / bias, dim=1)",
        "return sum(y, dim=1), max(y, dim=1)", "norm(y, dim=1)"}) {
    INFO(text);
    CHECK_FALSE(guarded(text));
  }
}

TEST_CASE("values that are used again and again are summed once", "[unit]") {
  std::string text = "v = y + bias";
  for (int i = 0; i < 100; ++i) text += "; v = v * 0.5 + v * 0.25";
  CHECK(guarded(text + "; sum(v, dim=1)"));
}
