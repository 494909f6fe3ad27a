#include "program/rewrites/apply_rewrites.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "program/constant_value.hpp"
#include "program/lower.hpp"
#include "reference/reference.hpp"
#include "support/case_count.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_program.hpp"

using namespace postlude;
using namespace postlude::test;
using postlude::detail::Program;
using postlude::detail::RewrittenProgram;
using postlude::detail::reference::Array;

namespace {

std::vector<OperandDeclaration> operands() {
  return {{"bias", OperandKind::row},
          {"scale", OperandKind::column},
          {"residual", OperandKind::matrix},
          {"c", OperandKind::scalar},
          {"gain", OperandKind::element}};
}

Program lower(const Epilogue& epilogue, const detail::Shape& y = {1, 5, 7}) {
  return detail::lower(epilogue, y, 3, operands());
}

/// A value as an expression in full, and its shape.
std::string full_text(const Program& program, int index) {
  const detail::Value& value = program.values[static_cast<std::size_t>(index)];
  Program alone = program;
  alone.values = {value};
  std::string text = to_string(alone);
  text = text.substr(5, text.find("  :") - 5);  // without "%0 = "
  text.erase(text.find_last_not_of(' ') + 1);
  for (std::size_t i = value.inputs.size(); i-- > 0;) {
    const std::string name = "%" + std::to_string(value.inputs[i]);
    const std::size_t at = text.rfind(name);
    text.replace(at, name.size(), full_text(program, value.inputs[i]));
  }
  return text + ":" + to_string(value.shape);
}

/// Every result in full: what tells whether two programs are equal, whatever the order of their
/// values is.
std::string text_of(const Program& program) {
  std::string text;
  for (const detail::ProgramResult& result : program.results)
    text += result.name + " = " + full_text(program, result.value) + "\n";
  return text;
}

std::string rewritten(const std::string& text, const detail::Shape& y = {1, 5, 7},
                      DataType arithmetic = DataType::float32) {
  return text_of(detail::apply_rewrites(lower(text, y), arithmetic).program);
}

std::string written(const std::string& text, const detail::Shape& y = {1, 5, 7}) {
  return text_of(lower(text, y));
}

/// `before` becomes `after`.
void becomes(const std::string& before, const std::string& after,
             const detail::Shape& y = {1, 5, 7}) {
  INFO(before);
  CHECK(rewritten(before, y) == written(after, y));
}

/// Nothing in it can be said more simply.
void stays(const std::string& text, const detail::Shape& y = {1, 5, 7}) {
  INFO(text);
  CHECK(rewritten(text, y) == written(text, y));
}

/// The first rewrite that was applied.
std::string first_rewrite(const std::string& text) {
  const RewrittenProgram rewritten = detail::apply_rewrites(lower(text), DataType::float32);
  return rewritten.applied.empty() ? "" : rewritten.applied[0].name;
}

}  // namespace

TEST_CASE("constants are folded in the arithmetic of the program", "[unit]") {
  becomes("y + (2 * 3 - 1)", "y + 5");
  becomes("y * exp(0) + bias", "y + bias");
  CHECK(first_rewrite("y + (2 + 3)") == "constants");
  // In float32 it is an infinity, in float64 it is not.
  becomes("y * 1e300", "y * 1e300");
  becomes("y * (1e30 * 1e30)", "y * inf");
  CHECK(rewritten("y * (1e30 * 1e30)", {1, 5, 7}, DataType::float64) == written("y * 1e60"));
  becomes("return 1 / 3 - 1 / 3, y", "return 0.0, y");
}

TEST_CASE("arithmetic with neutral elements vanishes, and only where it is exact", "[unit]") {
  for (const char* text : {"y * 1", "1 * y", "y / 1", "y - 0", "y + -0", "-0 + y", "-(-y)",
                           "y * 1.00000000001", "--(y * 1 * 1) / 1"})
    becomes(text, "y");
  becomes("y * -1", "-y");
  becomes("y / -1", "-y");
  becomes("y + (-bias)", "y - bias");
  becomes("(-y) + bias", "bias - y");
  becomes("y - (-bias)", "y + bias");
  becomes("(-y) * (-bias)", "y * bias");
  becomes("(-y) / (-bias)", "y / bias");
  becomes("y * y", "square(y)");
  becomes("y / 4", "y * 0.25");
  becomes("y / -0.5", "y * -2");
  becomes("1 / sqrt(y)", "rsqrt(y)");
  becomes("reciprocal(sqrt(y))", "rsqrt(y)");
  // -0 + 0 is 0; but what is a square is never -0.
  stays("y + 0");
  becomes("square(y) + 0", "square(y)");
  becomes("0 + abs(y)", "abs(y)");
  for (const char* text : {"0 - y", "y * 0", "y - y", "y / y", "-(y - bias)", "y / 3", "y / 0",
                           "y / inf", "y + inf", "y * 2", "y - -0"})
    stays(text);
  // 2^-149 has no reciprocal in float32, 1e-40 is no power of two.
  stays("y / 1e-40");
  stays("y / 1.401298464324817e-45");
}

TEST_CASE("powers become what C's pow is for every number", "[unit]") {
  becomes("y ** 1", "y");
  becomes("y ** 2", "square(y)");
  becomes("y ** -1", "reciprocal(y)");
  becomes("1 ** y + residual", "1 + residual");
  for (const char* text : {"y ** 0.5", "y ** 3", "2 ** y", "y ** c"}) stays(text);
}

TEST_CASE("what was done before is not done again", "[unit]") {
  becomes("abs(abs(y))", "abs(y)");
  becomes("abs(-y)", "abs(y)");
  becomes("square(abs(y))", "square(y)");
  becomes("abs(square(y))", "square(y)");
  becomes("floor(round(y))", "round(y)");
  becomes("ceil(sign(y))", "sign(y)");
  becomes("sign(sign(y))", "sign(y)");
  becomes("min(y, y)", "y");
  becomes("max(relu(y), relu(y))", "relu(y)");
  for (const char* text : {"sign(floor(y))", "abs(floor(y))", "exp(log(y))", "sqrt(square(y))"})
    stays(text);
}

TEST_CASE("a branch that is known is taken", "[unit]") {
  becomes("where(1, y, bias)", "y");
  becomes("where(nan, y, residual)", "y");
  becomes("where(0, bias, y)", "y");
  becomes("where(-0, bias, y)", "y");
  becomes("where(y > 0, bias, bias) + y", "bias + y");
  becomes("where(y != 0, bias, scale)", "where(y, bias, scale)");
  becomes("where(y > bias, 1, 0)", "y > bias");
  becomes("where(y < y, bias, residual)", "residual");
  becomes("where(y + nan * bias, y, scale)", "y");
  stays("where(y, bias, scale)");
  stays("where(y == y, bias, scale)");
  stays("where(y > 0, 0, 1)");
}

TEST_CASE("clamps merge", "[unit]") {
  becomes("clamp(clamp(y, -1, 1), 0, 2)", "clamp(y, 0, 1)");
  becomes("relu(relu(y))", "relu(y)");
  becomes("relu(min(y, 3))", "clamp(y, 0, 3)");
  becomes("max(min(y, 3), 4)", "clamp(y, 4, 4)");
  becomes("hardtanh(relu6(y))", "clamp(y, 0, 1)");
  becomes("clamp(y, 0)", "relu(y)");
  becomes("clamp(y, max=2)", "min(y, 2)");
  becomes("clamp(y, -1)", "max(y, -1)");
  becomes("clamp(y)", "y");
  becomes("min(y, inf)", "y");
  becomes("max(-inf, y)", "y");
  becomes("min(min(y, bias), bias)", "min(y, bias)");
  becomes("max(c, max(c, y))", "max(c, y)");
  becomes("clamp(clamp(y, 4, 2), -9, 9)", "clamp(y, 2, 2)");
  for (const char* text : {"clamp(y, c, 1)", "min(max(y, bias), c)", "min(y, -inf)",
                           "hardtanh(y, -2, 2)", "clamp(clamp(y, c, 1), 0, 1)"})
    stays(text);
}

TEST_CASE("reductions over one element fold away", "[unit]") {
  const detail::Shape column{1, 5, 1};
  for (const char* reduction : {"max", "min", "prod"})
    becomes(std::string(reduction) + "(y, dim=1)", "y", column);
  for (const char* reduction : {"sum", "mean", "logsumexp"}) {
    becomes(std::string(reduction) + "(y, dim=1)", "y + 0", column);
    becomes(std::string(reduction) + "(exp(y), dim=1)", "exp(y)", column);
  }
  becomes("sumexp(y, dim=1)", "exp(y - y)", column);
  becomes("amax(y, dim=1)", "abs(y)", column);
  becomes("norm(y, dim=1, p=3)", "abs(y)", column);
  becomes("var(y, dim=1, correction=0)", "y - y", column);
  becomes("where(std(y, dim=1) + y, bias, y) + y", "bias + y", {1, 1, 1});
  becomes("any(y, dim=1)", "y != 0", column);
  becomes("all(y, dim=1)", "y != 0", column);
  becomes("max_pool(y, kernel=1)", "y");
  becomes("group_norm(y, groups=7)", "(y - (y + 0)) * rsqrt((y - y) + 1e-05)");
  becomes("logsumexp(max(sum(y, dim=1), dim=1), dim=1)", "sum(y, dim=1) + 0");
  becomes("m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))",
          "m = max(y + bias, dim=1); gelu(m - (m + 0))");
  stays("argmax(y, dim=1)", column);
  stays("max(y, dim=0)", column);
  stays("max_pool(y, kernel=1, stride=2)");
}

TEST_CASE("what softmax divides by is found with the maximum", "[unit]") {
  becomes("softmax(y, dim=1)", "exp(y - max(y, dim=1)) / sumexp(y, dim=1)");
  becomes("log_softmax(y + bias, dim=1)",
          "v = y + bias; (v - max(v, dim=1)) - log(sumexp(v, dim=1))");
  becomes("v = y * residual; sum(exp(v - max(v, dim=1)), dim=1)", "sumexp(y * residual, dim=1)");
  for (const char* text :
       {"softmax(y, dim=0)", "sum(exp(y - max(y, dim=0)), dim=1)", "sum(exp(y - c), dim=1)",
        "sum(exp(y - max(y * 2, dim=1)), dim=1)", "mean(exp(y - max(y, dim=1)), dim=1)",
        "sum(exp(max(y, dim=1) - y), dim=1)", "sum(exp(residual * y - max(y, dim=1)), dim=1)"})
    stays(text);
}

TEST_CASE("ranges decide what they can", "[unit]") {
  becomes("relu(sigmoid(y))", "sigmoid(y)");
  becomes("abs(exp(y))", "exp(y)");
  becomes("clamp(tanh(y), -1, 1)", "tanh(y)");
  becomes("clamp(softmax(y, dim=0) > 0.5, -1, 2)", "softmax(y, dim=0) > 0.5");
  becomes("clamp(y > 0, 2, 3) * residual", "2 * residual");
  becomes("min(sigmoid(y), 2)", "sigmoid(y)");
  becomes("max(var(y, dim=1), 0)", "var(y, dim=1)");
  becomes("max(sumexp(y, dim=1), 0)", "sumexp(y, dim=1)");
  becomes("relu(sumexp(sigmoid(y), dim=1))", "sumexp(sigmoid(y), dim=1)");
  becomes("where(exp(y) >= 0, bias, bias * 2)", "where(exp(y) >= 0, bias, bias * 2)");
  becomes("where(1 + abs(y), bias, residual) + y", "bias + y");
  becomes("leaky_relu(abs(y) + 1)", "abs(y) + 1");
  for (const char* text : {"relu(y)", "abs(y)", "relu(gelu(y))", "abs(sqrt(y))", "clamp(y, 2, 3)",
                           "min(sigmoid(y), bias)", "clamp(tanh(y), -0.5, 1)", "exp(y) > 0"})
    stays(text);
}

TEST_CASE("equal values become one, in either order", "[unit]") {
  becomes("(y + bias) * (bias + y)", "square(y + bias)");
  becomes("(y > bias) + (bias < y)", "(y > bias) + (y > bias)");
  becomes("v = y * 1; v + y", "y + y");
}

TEST_CASE("what no result needs goes, the GEMM included", "[unit]") {
  const RewrittenProgram program =
      detail::apply_rewrites(lower("where(0, exp(y), bias)"), DataType::float32);
  CHECK_FALSE(program.program.uses_y());
  REQUIRE(program.applied.back().name == "dead_values");
  CHECK(program.applied.back().saved.find("the GEMM") != std::string::npos);
  // Broadcast to the shape that was written.
  CHECK(program.program.values.back().shape == detail::Shape{1, 5, 7});
}

TEST_CASE("an index that is a result stays one", "[unit]") {
  const auto is_index = [](const std::string& text, std::size_t result) {
    const Program program = detail::apply_rewrites(lower(text), DataType::float32).program;
    return program.values[static_cast<std::size_t>(program.results[result].value)].is_index();
  };
  CHECK(is_index("argmax(y, dim=1)", 0));
  CHECK(is_index("i = argmax(y, dim=1); return i, i * 1", 0));
  CHECK_FALSE(is_index("i = argmax(y, dim=1); return i, i * 1", 1));
}

TEST_CASE("every rewrite can be left out by its name, and all at once", "[unit]") {
  const std::string text = "relu(relu(y * 1)) + where(1, bias, y) + max(-(-y), y) ** 2";
  const Program program = lower(text);
  for (const detail::Rewrite& rewrite : detail::rewrite_list()) {
    const auto left_out = detail::rewrites_left_out({rewrite.name});
    for (const auto& applied : detail::apply_rewrites(program, DataType::float32, left_out).applied)
      CHECK(applied.name != rewrite.name);
  }
  const RewrittenProgram untouched =
      detail::apply_rewrites(program, DataType::float32, detail::rewrites_left_out({"all"}));
  CHECK(untouched.applied.empty());
  CHECK(to_string(untouched.program) == to_string(program));
  check_error(
      Status::unknown_name, [] { detail::rewrites_left_out({"clamp"}); }, "'clamp'", "clamps",
      "size_one_reductions");
}

namespace {

constexpr double huge[] = {1e300, -1e300, 3e38, -3e38, 1e-310, -1e-310};

double random_number(Random& random, bool is_special) {
  if (is_special) switch (random.below(12)) {
      case 0:
        return std::numeric_limits<double>::quiet_NaN();
      case 1:
        return std::numeric_limits<double>::infinity();
      case 2:
        return -std::numeric_limits<double>::infinity();
      case 3:
        return 0;
      case 4:
        return -0.0;
      case 5:
        return huge[random.below(6)];
      case 6:
        return static_cast<double>(random.below(5) - 2);
      default:
        break;
    }
  return random.uniform(-2, 2);
}

/// The results of a program, by the evaluator's own formulas: which of two zeros a choice returns
/// is not specified, and the reference's choice may be another one.
std::vector<Array> results_of(const Program& program, const Array& y,
                              const std::vector<Array>& operands) {
  std::vector<Array> arrays;
  for (const detail::Value& value : program.values) {
    if (value.kind != detail::NodeKind::pointwise) {
      // Alone, with its input as y.
      Program alone = program;
      alone.values = {value};
      alone.results = {{"r", 0}};
      if (!value.inputs.empty()) {
        const Array& input = arrays[static_cast<std::size_t>(value.inputs[0])];
        detail::Value source;
        source.kind = detail::NodeKind::gemm_result;
        source.shape = alone.y = input.shape;
        alone.values = {source, value};
        alone.values[1].inputs = {0};
        alone.results[0].value = 1;
        arrays.push_back(detail::reference::evaluate(alone, input, operands)[0]);
      } else {
        arrays.push_back(detail::reference::evaluate(alone, y, operands)[0]);
      }
      continue;
    }
    Array result(value.shape);
    for (std::int64_t b = 0; b < value.shape.batch; ++b)
      for (std::int64_t m = 0; m < value.shape.rows; ++m)
        for (std::int64_t n = 0; n < value.shape.columns; ++n) {
          double inputs[3] = {};
          for (std::size_t i = 0; i < value.inputs.size(); ++i)
            inputs[i] = arrays[static_cast<std::size_t>(value.inputs[i])].at(b, m, n);
          result.at(b, m, n) = detail::constant_result(value.operation, inputs, DataType::float64);
        }
    arrays.push_back(std::move(result));
  }
  std::vector<Array> results;
  for (const detail::ProgramResult& result : program.results)
    results.push_back(arrays[static_cast<std::size_t>(result.value)]);
  return results;
}

bool is_same(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance + tolerance * std::abs(a);
}

}  // namespace

TEST_CASE("random programs give the same when they are rewritten", "[unit]") {
  Random random;
  INFO(random.hint());
  constexpr int count = 6000;
  int changed = 0;
  std::map<std::string, int> uses;
  for (int i = 0; i < count; ++i) {
    RandomProgramSettings settings;
    settings.m = 1 + random.below(4);
    settings.n = 1 + random.below(6);
    settings.batch = 1 + random.below(2);
    settings.operations = 20;
    const RandomProgram written = random_program(random, settings);
    const Program program = detail::lower(
        written.epilogue(), {settings.batch, settings.m, settings.n}, 3, written.operands);
    // Each alone now and then, so that one does not hide behind another.
    std::set<std::string> without;
    if (i % 4 == 0)
      for (const detail::Rewrite& rewrite : detail::rewrite_list())
        if (random.below(2) == 0) without.insert(rewrite.name);
    const RewrittenProgram rewritten = detail::apply_rewrites(program, DataType::float64, without);
    if (!rewritten.applied.empty()) ++changed;
    for (const auto& applied : rewritten.applied) ++uses[applied.name];
    CHECK(detail::apply_rewrites(rewritten.program, DataType::float64, without).applied.empty());

    const bool is_special = random.below(3) != 0;
    Array y(program.y);
    for (double& value : y.values) value = random_number(random, is_special);
    std::vector<Array> arrays;
    for (const detail::ProgramOperand& operand : program.operands) {
      arrays.emplace_back(operand.shape);
      for (double& value : arrays.back().values)
        value = operand.is_seed || operand.name == "seed" ? static_cast<double>(random.below(100))
                                                          : random_number(random, is_special);
    }
    const std::vector<Array> expected = results_of(program, y, arrays);
    const std::vector<Array> results = results_of(rewritten.program, y, arrays);
    REQUIRE(results.size() == expected.size());
    for (std::size_t r = 0; r < results.size(); ++r) {
      REQUIRE(results[r].shape == expected[r].shape);
      for (std::size_t e = 0; e < results[r].values.size(); ++e) {
        if (is_same(expected[r].values[e], results[r].values[e], 1e-9)) continue;
        UNSCOPED_INFO("result " << r << " element " << e << " is " << results[r].values[e]
                                << ", expected " << expected[r].values[e]);
        UNSCOPED_INFO(to_string(program) << "\n" << to_string(rewritten.program));
        for (const auto& applied : rewritten.applied)
          UNSCOPED_INFO(applied.name << ": " << applied.before << " -> " << applied.after);
        FAIL();
      }
    }
    count_case("rewritten programs, value by value");
  }
  CHECK(changed > count / 2);
  for (const detail::Rewrite& rewrite : detail::rewrite_list()) {
    INFO(rewrite.name);
    // Those with a guard have tests of their own.
    if (std::string(rewrite.name) != "vanishing_differences" &&
        std::string(rewrite.name) != "sums_of_products")
      CHECK(uses[rewrite.name] > 0);
  }
}
