#include "support/catch.hpp"

#include <string>

#include "program/lower.hpp"
#include "support/errors.hpp"
#include "support/programs.hpp"

using namespace postlude;
using namespace postlude::test;
using postlude::detail::NodeKind;
using postlude::detail::Program;
using postlude::detail::Shape;

namespace {

std::string shape_of(const std::string& text) {
  const Program program = lower(text);
  return to_string(program.values[static_cast<std::size_t>(program.results[0].value)].shape);
}

}  // namespace

TEST_CASE("shapes broadcast as in NumPy", "[unit]") {
  CHECK(shape_of("y") == "5x7");
  CHECK(shape_of("2") == "1x1");
  CHECK(shape_of("bias") == "1x7");
  CHECK(shape_of("scale") == "5x1");
  CHECK(shape_of("residual") == "5x7");
  CHECK(shape_of("c + gain") == "1x1");
  CHECK(shape_of("bias + scale") == "5x7");
  CHECK(shape_of("bias + c") == "1x7");
  CHECK(shape_of("where(scale, bias, gain)") == "5x7");
  CHECK(shape_of("sum(y, dim=0)") == "1x7");
  CHECK(shape_of("sum(y, dim=1)") == "5x1");
  CHECK(shape_of("sum(sum(y, dim=0), dim=1)") == "1x1");
  CHECK(shape_of("sum(bias, dim=0)") == "1x7");
  CHECK(shape_of("sum(y, dim=0) + sum(y, dim=1)") == "5x7");
}

TEST_CASE("shapes that do not broadcast name both and point at the operation", "[unit]") {
  CHECK_THROWS_AS(detail::broadcast({{1, 5, 7}, {1, 4, 7}}), Error);
  check_error(
      Status::shape_mismatch,
      [] {
        detail::broadcast({{1, 5, 7}, {1, 4, 7}});
      },
      "5x7", "4x7", "do not broadcast");
  check_error(
      Status::shape_mismatch,
      [] {
        detail::broadcast({{2, 5, 7}, {3, 5, 7}});
      },
      "2x5x7");
  CHECK(detail::broadcast({{1, 1, 7}, {2, 5, 1}}) == Shape{2, 5, 7});
  CHECK(detail::broadcast({{1, 1, 7}, {1, 0, 7}}) == Shape{1, 0, 7});
}

TEST_CASE("equal subexpressions become one value", "[unit]") {
  CHECK(lower("relu(y) + relu(y)").values.size() == 3);
  CHECK(lower("(y + bias) * (y + bias)").values.size() == 4);
  CHECK(lower("(y + bias) * (bias + y)").values.size() == 5);
  CHECK(lower("sum(y, dim=1) + sum(y, dim=1)").values.size() == 3);
  CHECK(lower("sum(y, dim=1) + sum(y, dim=0)").values.size() == 4);
  CHECK(lower("norm(y, dim=1) + norm(y, dim=1, p=1)").values.size() == 4);
  CHECK(lower("min(y, 2) + max(y, 2)").values.size() == 5);
  CHECK(lower("a = relu(y); return a, relu(y), a * 1").values.size() == 4);
}

TEST_CASE("0 and -0 stay two constants, and every NaN one", "[unit]") {
  CHECK(lower("y * 0 + y * -0").values.size() == 6);
  CHECK(lower("y * nan + y * nan").values.size() == 4);
}

TEST_CASE("values come after their inputs", "[unit]") {
  const Program program = lower("m = max(y + bias, dim=1); z = gelu(m - mean(m, dim=1)); z / c");
  for (std::size_t i = 0; i < program.values.size(); ++i)
    for (const int input : program.values[i].inputs) CHECK(input < static_cast<int>(i));
  CHECK_NOTHROW(detail::verify(program));
}

TEST_CASE("the verifier finds a program that was spoilt", "[unit]") {
  const auto spoilt = [](const char* part, const auto& spoil) {
    Program program = lower("relu(y + bias)");
    spoil(program);
    check_error(
        Status::internal_error, [&] { detail::verify(program); }, "malformed", part);
  };
  spoilt("before it is defined", [](Program& p) { p.values[2].inputs[0] = 3; });
  spoilt("before it is defined", [](Program& p) { p.values[2].inputs[0] = -1; });
  spoilt("number of inputs", [](Program& p) { p.values[2].inputs.pop_back(); });
  spoilt("wrong shape", [](Program& p) { p.values[3].shape.rows = 1; });
  spoilt("another shape", [](Program& p) { p.values[0].shape.columns = 1; });
  spoilt("does not exist", [](Program& p) { p.results[0].value = 99; });
  spoilt("no result", [](Program& p) { p.results.clear(); });
}

TEST_CASE("operands keep their declared order, then the order of first use", "[unit]") {
  const Program program =
      detail::lower(Epilogue(y() + column("b") * row("a") + scalar("z")), {1, 5, 7}, 3,
                    {{"z", OperandKind::scalar}, {"unused", OperandKind::row}});
  REQUIRE(program.operands.size() == 4);
  CHECK(program.operands[0].name == "z");
  CHECK(program.operands[1].name == "unused");
  CHECK_FALSE(program.operands[1].is_used);
  CHECK(program.operands[2].name == "b");
  CHECK(program.operands[3].name == "a");
  CHECK(program.operands[2].shape == Shape{1, 5, 1});
}

TEST_CASE("a name that is no operand is an error with a caret", "[unit]") {
  check_error(
      Status::unknown_name, [] { lower("relu(y) + offset"); }, "'offset'", "(line 1, column 11)",
      "          ^~~~~~");
  check_error(
      Status::unknown_name, [] { lower("m = y\nm + ofset"); }, "(line 2, column 5)");
}

TEST_CASE("operands are declared once, with one kind and a name of their own", "[unit]") {
  const auto declare = [](const std::vector<OperandDeclaration>& operands) {
    return [operands] { detail::lower(Epilogue("y"), {1, 5, 7}, 3, operands); };
  };
  check_error(Status::invalid_argument,
              declare({{"a", OperandKind::row}, {"a", OperandKind::column}}), "'a'", "twice");
  check_error(Status::invalid_argument, declare({{"relu", OperandKind::row}}), "relu");
  check_error(Status::invalid_argument, declare({{"y", OperandKind::row}}), "'y'");
  check_error(Status::invalid_argument, declare({{"", OperandKind::row}}), "name");
  check_error(Status::invalid_argument, declare({{"9a", OperandKind::row}}), "9a");
  check_error(Status::invalid_argument, declare({{"a", static_cast<OperandKind>(9)}}), "kind is 9");
  check_error(
      Status::invalid_argument,
      [] {
        detail::lower(Epilogue(y() + row("a") * column("a")), {1, 5, 7}, 3, {});
      },
      "'a'", "two kinds");
  check_error(
      Status::invalid_argument,
      [] {
        detail::lower(Epilogue(y() + row("a")), {1, 5, 7}, 3, {{"a", OperandKind::column}});
      },
      "'a'", "two kinds");
}

TEST_CASE("largest, smallest and index of an empty dimension are errors", "[unit]") {
  const auto over = [](const std::string& text, const Shape& y) {
    return [text, y] { detail::lower(Epilogue(text), y, 3, {}); };
  };
  for (const std::string name : {"max", "min", "amax", "argmax", "argmin"}) {
    check_error(Status::shape_mismatch, over(name + "(y, dim=0)", {1, 0, 7}), name, "dim=0",
                "empty", "(line 1, column 1)");
    check_error(Status::shape_mismatch, over(name + "(y, dim=1)", {1, 5, 0}), name, "dim=1");
    CHECK_NOTHROW(over(name + "(y, dim=1)", {1, 0, 7})());
    CHECK_NOTHROW(over(name + "(y, dim=0)", {1, 5, 0})());
  }
  for (const std::string name : {"sum", "mean", "logsumexp", "prod", "norm", "var", "any", "all"})
    CHECK_NOTHROW(over(name + "(y, dim=0)", {1, 0, 7})());
}

TEST_CASE("indices are integers, and arithmetic on them is not", "[unit]") {
  const Program program = lower("i = argmax(y, dim=1); return i, i + 1");
  CHECK(program.values[static_cast<std::size_t>(program.results[0].value)].is_index());
  CHECK_FALSE(program.values[static_cast<std::size_t>(program.results[1].value)].is_index());
}

TEST_CASE("a program prints one value a line", "[unit]") {
  const std::string text = lowered("min(y + bias, 2) - 2");
  CHECK(text.find("%0 = y = x w^T") == 0);
  CHECK(text.find("%2 = add(%0, %1)") != std::string::npos);
  CHECK(text.find(": 1x7") != std::string::npos);
  CHECK(text.find("return result = %5") != std::string::npos);
}
