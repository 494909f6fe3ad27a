#include "support/catch.hpp"

#include <cmath>
#include <locale>
#include <string>

#include <postlude/expression.hpp>

#include "expression/lexer.hpp"
#include "expression/number_text.hpp"
#include "expression/signature.hpp"
#include "program/lower.hpp"
#include "support/errors.hpp"
#include "support/programs.hpp"

using namespace postlude;
using namespace postlude::test;
using postlude::detail::Program;
using postlude::detail::TokenKind;

TEST_CASE("the lexer cuts names, numbers, symbols and statement ends", "[unit]") {
  const auto tokens = detail::tokenize("z_1 = .5e1*(y\n+2) # rest\n;return z_1");
  std::string texts;
  for (const auto& token : tokens) texts += std::string(token.text) + "|";
  CHECK(texts == "z_1|=|.5e1|*|(|y|+|2|)|\n|;|return|z_1||");
  CHECK(tokens[2].number == 5);
  CHECK(tokens.back().kind == TokenKind::end_of_text);
}

TEST_CASE("products bind closer than sums, and sums closer than comparisons", "[unit]") {
  CHECK(lowered("1 + 2 * y") == lowered("1 + (2 * y)"));
  CHECK(lowered("1 - 2 / y") == lowered("1 - (2 / y)"));
  CHECK(lowered("y + 1 < 2 * y") == lowered("(y + 1) < (2 * y)"));
  CHECK(lowered("1 - y - 2") == lowered("(1 - y) - 2"));
  CHECK(lowered("1 / y / 2") == lowered("(1 / y) / 2"));
  CHECK(lowered("1 - y - 2") != lowered("1 - (y - 2)"));
}

TEST_CASE("power binds to the right, and closer than a sign before it", "[unit]") {
  CHECK(lowered("y ** 2 ** 3") == lowered("y ** (2 ** 3)"));
  CHECK(lowered("y ** 2 ** 3") != lowered("(y ** 2) ** 3"));
  CHECK(lowered("-y ** 2") == lowered("-(y ** 2)"));
  CHECK(lowered("2 ** -y") == lowered("2 ** (-y)"));
  CHECK(lowered("2 * y ** 2") == lowered("2 * (y ** 2)"));
  CHECK(lowered("--y") == lowered("-(-y)"));
}

TEST_CASE("numbers are read as C reads them", "[unit]") {
  const auto value = [](const std::string& text) { return lower(text).values.front().constant; };
  CHECK(value("12") == 12);
  CHECK(value("1.") == 1);
  CHECK(value(".25") == 0.25);
  CHECK(value("1e3") == 1000);
  CHECK(value("1.5E-3") == 1.5e-3);
  CHECK(value("2e+2") == 200);
  CHECK(value("-2") == -2);
  CHECK(value("inf") == INFINITY);
  CHECK(value("-inf") == -INFINITY);
  CHECK(std::isnan(value("nan")));
}

TEST_CASE("arguments are given by position, by keyword or by default", "[unit]") {
  CHECK(lowered("clamp(y, min=0, max=1)") == lowered("clamp(y, 0, 1)"));
  CHECK(lowered("clamp(y, max=1, min=0)") == lowered("clamp(y, 0, 1)"));
  CHECK(lowered("clamp(y, max=1)") == lowered("clamp(y, -inf, 1)"));
  CHECK(lowered("leaky_relu(y)") == lowered("leaky_relu(y, negative_slope=0.01)"));
  CHECK(lowered("softplus(y, threshold=5)") == lowered("softplus(y, 1, 5)"));
  CHECK(lowered("hardtanh(y)") == lowered("hardtanh(y, -1, 1)"));
  CHECK(lowered("norm(y, dim=1)") == lowered("norm(y, dim=1, p=2)"));
  CHECK(lowered("norm(y, p=1, dim=1)") != lowered("norm(y, dim=1, p=2)"));
  CHECK(lowered("var(y, dim=0)") == lowered("var(y, dim=0, correction=1)"));
  CHECK(lowered("swish(y)") == lowered("silu(y)"));
  CHECK(lowered("minimum(y, 1)") == lowered("min(y, 1)"));
}

TEST_CASE("max and min of one value with dim reduce, of two values are pointwise", "[unit]") {
  CHECK(lower("max(y, dim=1)").values.back().kind == detail::NodeKind::reduction);
  CHECK(lower("max(y, 1)").values.back().kind == detail::NodeKind::pointwise);
  CHECK(lowered("max(y, dim=-1)") == lowered("max(y, dim=1)"));
  CHECK(lowered("max(y, dim=-2)") == lowered("max(y, dim=0)"));
  check_error(
      Status::syntax_error, [] { lower("max(y)"); }, "dim=0 or dim=1");
  check_error(
      Status::syntax_error, [] { lower("max(y, y, dim=1)"); }, "max");
}

TEST_CASE("statements end with a semicolon or a line end, and comments with a line end", "[unit]") {
  CHECK(lowered("a = y + 1; a * 2") == lowered("(y + 1) * 2"));
  CHECK(lowered("a = y + 1\na * 2") == lowered("(y + 1) * 2"));
  CHECK(lowered("\n;;a = y + 1 # a = 3; b\n\n; a * 2;\n# end") == lowered("(y + 1) * 2"));
  CHECK(lowered("a = y + 1\r\na * 2\r\n") == lowered("(y + 1) * 2"));
  CHECK(lowered("relu(y\n  + 1 # inside\n)") == lowered("relu(y + 1)"));
  CHECK(lowered("(y\n+\n1)") == lowered("y + 1"));
  check_error(
      Status::syntax_error, [] { lower("y\n+ 1"); }, "never used");
}

TEST_CASE("a name may be bound again, and shadows an operand", "[unit]") {
  CHECK(lowered("a = y; a = a + 1; a = a * a; a") == lowered("(y + 1) * (y + 1)"));
  CHECK(lowered("bias = y + bias; bias + bias") == lowered("(y + bias) + (y + bias)"));
}

TEST_CASE("a program's results are its last value or its return list", "[unit]") {
  const auto names = [](const std::string& text) {
    std::string list;
    for (const auto& result : lower(text).results) list += result.name + " ";
    return list;
  };
  CHECK(names("y + 1") == "result ");
  CHECK(names("z = y + 1") == "z ");
  CHECK(names("z = y + 1; return z") == "z ");
  CHECK(names("z = y + 1; return z, y, z * 2") == "z y result2 ");
  CHECK(names("return relu(y), bias") == "result0 bias ");
  check_error(
      Status::syntax_error, [] { lower("return y; y"); }, "nothing may follow");
  check_error(
      Status::syntax_error, [] { lower("return y,"); }, "expected a value");
  check_error(
      Status::syntax_error, [] { lower("return"); }, "expected a value");
}

TEST_CASE("C++ operators build the same program as the text", "[unit]") {
  const auto same = [](const Expression& expression, const std::string& text) {
    INFO(text);
    CHECK(lowered(Epilogue(expression)) == lowered(text));
  };
  const Expression v = y();
  const Expression bias = row("bias");
  const Expression c = scalar("c");
  same(min(v + bias, c) - c, "min(y + bias, c) - c");
  same(gelu(reduce(Reduction::max, v + bias, 0) -
            reduce(Reduction::mean, reduce(Reduction::max, v + bias, 0), 1)),
       "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))");
  same(-v, "-y");
  same(v * 2 / 3 - 1, "y * 2 / 3 - 1");
  same(2 - v, "2 - y");
  same(pow(v, 3), "y ** 3");
  same(v < c, "y < c");
  same(v <= c, "y <= c");
  same(v > c, "y > c");
  same(v >= c, "y >= c");
  same(v == c, "y == c");
  same(v != c, "y != c");
  same(clamp(v, 0, 1), "clamp(y, 0, 1)");
  same(leaky_relu(v), "leaky_relu(y)");
  same(softplus(v, 2), "softplus(y, 2)");
  same(where(v > 0, v, column("scale")), "where(y > 0, y, scale)");
  same(reduce(Reduction::norm, v, -1, 1), "norm(y, dim=1, p=1)");
  same(reduce(Reduction::std, v, 0), "std(y, dim=0)");
}

TEST_CASE("every function of the table is called by its name with its arity", "[unit]") {
  const std::string extra[] = {"", ", bias", ", bias, scale"};
#define POSTLUDE_CHECK(name, arity, signature, formula)                              \
  {                                                                                  \
    const Program program = lower(std::string(#name "(y") + extra[(arity)-1] + ")"); \
    CHECK(program.values.back().operation == Operation::name);                       \
    CHECK(program.values.back().inputs.size() == std::size_t(arity));                \
    CHECK(program.values.back().shape == program.y);                                 \
  }
  POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_CHECK)
#undef POSTLUDE_CHECK
#define POSTLUDE_CHECK(name, keyword, fallback, formula)                \
  for (const std::string dim : {"0", "1"}) {                            \
    const Program program = lower(#name "(y, dim=" + dim + ")");        \
    CHECK(program.values.back().reduction == Reduction::name);          \
    CHECK(program.values.back().parameter == fallback);                 \
    CHECK(program.values.back().shape.rows == (dim == "0" ? 1 : 5));    \
    CHECK(program.values.back().shape.columns == (dim == "1" ? 1 : 7)); \
  }
  POSTLUDE_REDUCTIONS(POSTLUDE_CHECK)
#undef POSTLUDE_CHECK
}

TEST_CASE("a fault is answered with its line, its column and a caret under it", "[unit]") {
  CHECK(check_error(Status::unknown_name, [] { lower("max(rleu(y), 0)"); }) ==
        "unknown function 'rleu'; did you mean 'relu'? (line 1, column 5)\n"
        "  max(rleu(y), 0)\n"
        "      ^~~~");
  check_error(
      Status::syntax_error, [] { lower("a = y\nb = a +"); }, "(line 2, column 8)");
  check_error(
      Status::syntax_error, [] { lower("y + $"); }, "unexpected '$'", "(line 1, column 5)",
      "\n      ^");
  check_error(
      Status::syntax_error, [] { lower("y + \xc3\xa9"); }, "unexpected byte 0xc3");
  check_error(
      Status::syntax_error, [] { lower("(y"); }, "expected ')'", "(line 1, column 3)");
  check_error(
      Status::syntax_error, [] { lower("y)"); }, "found ')'", "(line 1, column 2)");
  check_error(
      Status::syntax_error, [] { lower("y y"); }, "found 'y'");
  check_error(
      Status::syntax_error, [] { lower("relu"); }, "is a function");
  check_error(
      Status::syntax_error, [] { lower("relu()"); }, "needs its argument 'v'");
  check_error(
      Status::syntax_error, [] { lower("relu(y, y)"); }, "at most 1");
  check_error(
      Status::syntax_error, [] { lower("clamp(y, 0, min=1)"); }, "given twice");
  check_error(
      Status::syntax_error, [] { lower("clamp(y, min=1, 2)"); }, "positional");
  check_error(
      Status::unknown_name, [] { lower("clamp(y, low=1)"); }, "'low'", "min=-inf");
  check_error(
      Status::syntax_error, [] { lower("y = 3; y"); }, "cannot be assigned");
  check_error(
      Status::syntax_error, [] { lower("relu = y; relu"); }, "cannot be assigned");
  check_error(
      Status::syntax_error, [] { lower("y + 1; y"); }, "never used");
  check_error(
      Status::syntax_error, [] { lower("1.2.3"); }, "not a number");
  check_error(
      Status::syntax_error, [] { lower("3x"); }, "not a number");
  check_error(
      Status::syntax_error, [] { lower("1e999"); }, "range of float64");
  check_error(
      Status::syntax_error, [] { lower("y < 1 < 2"); }, "cannot be chained");
  check_error(
      Status::syntax_error, [] { lower("y == 1 != 2"); }, "cannot be chained");
  check_error(
      Status::syntax_error, [] { lower("sum(y)"); }, "dim=0 or dim=1");
  check_error(
      Status::syntax_error, [] { lower("sum(y, 1)"); }, "by keyword");
  check_error(
      Status::syntax_error, [] { lower("sum(y, dim=bias)"); }, "must be a number");
  check_error(
      Status::invalid_argument, [] { lower("sum(y, dim=2)"); }, "dim is 2", "expected 0",
      "(line 1, column 12)");
  check_error(
      Status::invalid_argument, [] { lower("sum(y, dim=0.5)"); }, "dim is 0.5");
  check_error(
      Status::invalid_argument, [] { lower("sum(y, dim=nan)"); }, "dim is nan");
  check_error(
      Status::syntax_error, [] { lower("sum(y, dim=0, dim=1)"); }, "given twice");
  check_error(
      Status::unknown_name, [] { lower("sum(y, dim=1, p=2)"); }, "'p'");
  check_error(
      Status::invalid_argument, [] { lower("norm(y, dim=1, p=0)"); }, "positive");
  check_error(
      Status::invalid_argument, [] { lower("norm(y, dim=1, p=nan)"); }, "positive");
  check_error(
      Status::syntax_error, [] { lower(std::string("y + \0 1", 7)); }, "byte 0x00");
}

TEST_CASE("a misspelt name is answered with the closest one", "[unit]") {
  check_error(
      Status::unknown_name, [] { lower("rleu(y)"); }, "did you mean 'relu'?");
  check_error(
      Status::unknown_name, [] { lower("sofplus(y)"); }, "did you mean 'softplus'?");
  check_error(
      Status::unknown_name, [] { lower("logsumxp(y, dim=1)"); }, "did you mean 'logsumexp'?");
  check_error(
      Status::unknown_name, [] { lower("y + baias"); }, "did you mean 'bias'?");
  CHECK(check_error(Status::unknown_name, [] { lower("frobnicate(y)"); }).find("did you mean") ==
        std::string::npos);
}

TEST_CASE("the names that other languages have for operators are answered with those", "[unit]") {
  check_error(
      Status::unknown_name, [] { lower("add(y, 1)"); }, "did you mean '+'?");
  check_error(
      Status::unknown_name, [] { lower("pow(y, 2)"); }, "did you mean '**'?");
  check_error(
      Status::unknown_name, [] { lower("le(y, 2)"); }, "did you mean '<='?");
  check_error(
      Status::unknown_name, [] { lower("greater_equal(y, 2)"); }, "did you mean '>='?");
}

TEST_CASE("numbers in messages have a point in every locale", "[unit]") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
  CHECK(detail::number_text(0.15) == "0.15");
  CHECK(detail::number_text(1234567) == "1234567");
  CHECK(detail::number_text(1e-5) == "1e-05");
  CHECK(detail::number_text(-std::nan("")) == "nan");
  check_error(
      Status::invalid_argument, [] { lower("sum(y, dim=0.5)"); }, "dim is 0.5");
  std::locale::global(before);
}

TEST_CASE("text without a statement is an error", "[unit]") {
  for (const std::string text : {"", " ", "\n\n", ";;", "# only a comment", "\t\r\n"})
    check_error(
        Status::syntax_error, [&] { lower(text); }, "empty");
}

TEST_CASE("a megabyte of text is read, or refused with a short message", "[unit]") {
  std::string sum = "y";
  while (sum.size() < 1000000) sum += " + y";
  const std::string message = check_error(
      Status::invalid_argument, [&] { lower(sum); }, "nested");
  CHECK(message.size() < 500);

  std::string statements;
  while (statements.size() < 1000000) statements += "v = relu(y) * 2 + 1\n";
  CHECK(lower(statements + "v").values.size() == 6);

  const std::string name(1000000, 'a');
  CHECK(check_error(Status::unknown_name, [&] { lower("y + " + name); }).size() < 500);
  CHECK(check_error(Status::unknown_name, [&] { lower(name + "(y)"); }).size() < 500);
  CHECK(check_error(Status::syntax_error, [&] { lower("y + $" + name); }).size() < 500);
  CHECK(lowered("y # " + name) == lowered("y"));
  CHECK(lowered("y + 1" + std::string(1000000, ' ')) == lowered("y + 1"));
}

TEST_CASE("nesting is limited, whatever it is made of", "[unit]") {
  const auto nested = [](const std::string& open, const std::string& close, int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    text += "y";
    for (int i = 0; i < depth; ++i) text += close;
    return text;
  };
  CHECK(lowered(nested("(", ")", 150)) == lowered("y"));
  CHECK(lower(nested("relu(", ")", 150)).values.size() == 151);
  for (const auto& pair :
       {std::make_pair("(", ")"), std::make_pair("relu(", ")"), std::make_pair("-", ""),
        std::make_pair("2**", ""), std::make_pair("max(y, ", ")")})
    check_error(
        Status::syntax_error, [&] { lower(nested(pair.first, pair.second, 10000)); }, "nesting");

  // Operators side by side are not nested in the text, but the expression is deep.
  const auto chain = [](int length) {
    std::string text = "y";
    for (int i = 0; i < length; ++i) text += " + " + std::to_string(i);
    return text;
  };
  CHECK_FALSE(lowered(chain(900)).empty());
  check_error(
      Status::invalid_argument, [&] { lower(chain(1100)); }, "1000 operations deep");
  std::string statements = "v = y\n";
  for (int i = 0; i < 1100; ++i) statements += "v = relu(v) + 1\n";
  check_error(
      Status::invalid_argument, [&] { lower(statements + "v"); }, "1000 operations deep");

  Expression deep = y();
  check_error(
      Status::invalid_argument,
      [&] {
        for (int i = 0; i < 1100; ++i) deep = relu(deep);
      },
      "1000 operations deep");
}

TEST_CASE("C++ builders refuse what the text refuses", "[unit]") {
  check_error(
      Status::invalid_argument, [] { row("relu"); }, "relu");
  check_error(
      Status::invalid_argument, [] { row("y"); }, "y");
  check_error(
      Status::invalid_argument, [] { row("2x"); }, "2x");
  check_error(
      Status::invalid_argument, [] { row(""); }, "name");
  check_error(
      Status::invalid_argument, [] { row("a b"); }, "a b");
  check_error(
      Status::invalid_argument, [] { clamp(y(), 1, 2, 3); }, "clamp", "4");
  check_error(
      Status::invalid_argument, [] { min(y()); }, "min");
  check_error(
      Status::invalid_argument, [] { reduce(Reduction::sum, y(), 2); }, "dim is 2");
  check_error(
      Status::invalid_argument, [] { reduce(Reduction::sum, y(), -3); }, "dim is -3");
  check_error(
      Status::invalid_argument, [] { Epilogue(std::vector<Epilogue::Result>()); }, "empty");
  check_error(
      Status::invalid_argument,
      [] {
        Epilogue({{"a", y()}, {"a", relu(y())}});
      },
      "'a', which an earlier result has");
  for (const std::string name : {"", "2nd", "a b", "a\n"})
    check_error(
        Status::invalid_argument,
        [&] {
          Epilogue({{name, y()}});
        },
        "a result's name is '");
}

TEST_CASE("two results of one name are refused in text as in C++", "[unit]") {
  check_error(
      Status::syntax_error, [] { lower("return y, y"); }, "twice");
  check_error(
      Status::syntax_error, [] { lower("a = y + 1; return a, relu(y), a"); }, "twice");
}
