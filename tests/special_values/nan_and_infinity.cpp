#include "support/catch.hpp"

#include <string>
#include <vector>

#include "expression/signature.hpp"
#include "support/error_model.hpp"
#include "support/given_values.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

namespace {

using Values = std::vector<double>;

/// Lengths around every block that a sweep could have: vectors, host blocks, teams.
std::vector<std::int64_t> tail_lengths() {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= 70; ++n) lengths.push_back(n);
  for (const std::int64_t n : {127, 128, 129, 255, 256, 257, 1023, 1025, 2051})
    lengths.push_back(n);
  return lengths;
}

/// Zeros with `value` at one place.
Values with(std::int64_t length, std::int64_t place, double value) {
  Values values(static_cast<std::size_t>(length), 0.0);
  values[static_cast<std::size_t>(place)] = value;
  return values;
}

std::size_t count_nan(const Values& values) {
  std::size_t count = 0;
  for (const double value : values) count += std::isnan(value) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a NaN comes through every function", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
#define POSTLUDE_CHECK(name, arity, signature, formula)                                        \
  {                                                                                            \
    INFO(#name);                                                                               \
    const bool selects = Operation::name == Operation::where;                                  \
    const std::string text = #name + std::string("(y") + std::string(arity > 1 ? ", a" : "") + \
                             std::string(arity > 2 ? ", b" : "") + ")";                        \
    const std::vector<Given> operands = {{"a", OperandKind::scalar, {0.5}},                    \
                                         {"b", OperandKind::scalar, {0.75}}};                  \
    if (!selects) CHECK(std::isnan(on_value(dtype, not_a_number, text, operands)));            \
  }
  POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_CHECK)
#undef POSTLUDE_CHECK
  for (const std::string text :
       {"-y", "y + 1", "y - 1", "1 - y", "y * 0", "y / 2", "2 / y", "y ** 2"})
    CHECK(std::isnan(on_value(dtype, not_a_number, text)));
}

TEST_CASE("comparisons with NaN are false, and a condition that is NaN is true",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const Values values = {not_a_number, 1};
  CHECK(same(on_row(dtype, values, "y < 2"), {0, 1}));
  CHECK(same(on_row(dtype, values, "y <= 2"), {0, 1}));
  CHECK(same(on_row(dtype, values, "y > 0"), {0, 1}));
  CHECK(same(on_row(dtype, values, "y >= 0"), {0, 1}));
  CHECK(same(on_row(dtype, values, "y == y"), {0, 1}));
  CHECK(same(on_row(dtype, values, "y != y"), {1, 0}));
  CHECK(same(on_row(dtype, values, "where(y, 3, 4)"), {3, 3}));
  // The branch that is not chosen does not count.
  CHECK(same(on_row(dtype, values, "where(y == y, y, 7)"), {7, 1}));
}

TEST_CASE("min, max and clamp give NaN for a NaN on either side, in every tail",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const char* const texts[] = {"min(y, a)",      "min(a, y)",      "max(y, a)",
                               "max(a, y)",      "clamp(y, a, 5)", "clamp(y, -5, a)",
                               "clamp(a, y, 5)", "clamp(a, -5, y)"};
  std::size_t turn = 0;
  for (const std::int64_t n : tail_lengths()) {
    const std::string text = texts[turn++ % 8];
    const std::int64_t place = turn % 3 == 0 ? n / 2 : n - 1;
    INFO(text << ", " << n << " elements, NaN at " << place);
    const Values zeros(static_cast<std::size_t>(n), 0.0);
    const Values spoilt = with(n, place, not_a_number);
    // In y, then in the operand.
    CHECK(same(on_row(dtype, spoilt, text, {{"a", OperandKind::row, zeros}}), spoilt));
    CHECK(same(on_row(dtype, zeros, text, {{"a", OperandKind::row, spoilt}}), spoilt));
    CHECK(same(on_column(dtype, spoilt, text, {{"a", OperandKind::column, zeros}}), spoilt));
    CHECK(same(on_column(dtype, zeros, text, {{"a", OperandKind::column, spoilt}}), spoilt));
    CHECK(same(on_row(dtype, zeros, text, {{"a", OperandKind::matrix, spoilt}}), spoilt));
  }
}

TEST_CASE("a bound that is NaN, as a scalar, a constant or an element, gives NaN everywhere",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const Values values = {-1, 0, 1, infinity, -infinity, 7, 8};
  for (const std::string text : {"min(y, a)", "min(a, y)", "max(y, a)", "max(a, y)",
                                 "clamp(y, a, 5)", "clamp(y, -5, a)", "hardtanh(y, a, 1)"}) {
    INFO(text);
    CHECK(count_nan(on_row(dtype, values, text, {{"a", OperandKind::scalar, {not_a_number}}})) ==
          values.size());
    CHECK(count_nan(on_row(dtype, values, text, {{"a", OperandKind::element, {not_a_number}}})) ==
          values.size());
  }
  CHECK(count_nan(on_row(dtype, values, "min(y, nan)")) == values.size());
  CHECK(count_nan(on_row(dtype, values, "max(nan, y)")) == values.size());
  CHECK(count_nan(on_row(dtype, values, "clamp(y, min=nan)")) == values.size());
  CHECK(count_nan(on_row(dtype, values, "clamp(y, max=nan)")) == values.size());
}

TEST_CASE("clamp with its bounds in the wrong order gives the upper one", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const Values values = {-10, 0, 2, 3, 4, 5, 100};
  const Values twos(values.size(), 2.0);
  const Values fours(values.size(), 4.0);
  CHECK(on_row(dtype, values, "clamp(y, 4, 2)") == twos);
  CHECK(on_row(dtype, values, "clamp(y, a, b)",
               {{"a", OperandKind::row, fours}, {"b", OperandKind::row, twos}}) == twos);
  CHECK(on_row(dtype, values, "min(max(y, 4), 2)") == twos);
  CHECK(on_row(dtype, values, "max(min(y, 2), 4)") == fours);
  CHECK(on_row(dtype, values, "max(min(max(y, 4), 2), 3)") == Values(values.size(), 3.0));
}

TEST_CASE("the largest of values with a NaN is NaN, of -inf alone -inf", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const auto check = [&](const Values& values, double largest, double smallest) {
    CHECK(same(on_row(dtype, values, "max(y, dim=1)"), {largest}));
    CHECK(same(on_column(dtype, values, "max(y, dim=0)"), {largest}));
    CHECK(same(on_row(dtype, values, "min(y, dim=1)"), {smallest}));
    CHECK(same(on_column(dtype, values, "min(y, dim=0)"), {smallest}));
  };
  check({not_a_number, not_a_number, not_a_number, 42}, not_a_number, not_a_number);
  check({1, not_a_number}, not_a_number, not_a_number);
  check({-infinity, -infinity}, -infinity, -infinity);
  check({infinity, infinity}, infinity, infinity);
  check({-infinity, 3}, 3, -infinity);
  check({-0x1.8p127, -0x1p127}, -0x1p127, -0x1.8p127);
}

TEST_CASE("a NaN anywhere on a line is found by every reduction", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::vector<std::string> names = {"sum", "mean", "prod",      "max",  "min",   "amax",
                                          "var", "std",  "logsumexp", "norm", "sumexp"};
  std::size_t turn = 0;
  for (const std::int64_t n : tail_lengths()) {
    const std::string& name = names[turn++ % names.size()];
    const std::int64_t place = turn % 3 == 0 ? n / 3 : n - 1;
    INFO(name << ", " << n << " elements, NaN at " << place);
    const Values spoilt = with(n, place, not_a_number);
    CHECK(same(on_row(dtype, spoilt, name + "(y, dim=1)"), {not_a_number}));
    CHECK(same(on_column(dtype, spoilt, name + "(y, dim=0)"), {not_a_number}));
    CHECK(same(on_row(dtype, spoilt, "argmax(y, dim=1)"), {static_cast<double>(place)}));
    CHECK(same(on_column(dtype, spoilt, "argmin(y, dim=0)"), {static_cast<double>(place)}));
    CHECK(same(on_row(dtype, spoilt, "any(y, dim=1)"), {1}));
  }
}

TEST_CASE("an index is that of the first of equal elements", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const std::int64_t n : tail_lengths()) {
    const Values equal(static_cast<std::size_t>(n), 3.0);
    CHECK(same(on_row(dtype, equal, "argmax(y, dim=1)"), {0}));
    CHECK(same(on_column(dtype, equal, "argmin(y, dim=0)"), {0}));
    Values two_peaks = with(n, n / 2, 5);
    two_peaks.back() = 5;
    CHECK(same(on_row(dtype, two_peaks, "argmax(y, dim=1)"), {static_cast<double>(n / 2)}));
    CHECK(same(on_column(dtype, two_peaks, "argmax(y, dim=0)"), {static_cast<double>(n / 2)}));
    // The first of several NaN.
    for (double& value : two_peaks)
      if (value == 5) value = not_a_number;
    CHECK(same(on_row(dtype, two_peaks, "argmin(y, dim=1)"), {static_cast<double>(n / 2)}));
    CHECK(same(on_column(dtype, two_peaks, "argmax(y, dim=0)"), {static_cast<double>(n / 2)}));
  }
}

TEST_CASE("softmax written by hand is right for infinities", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const auto softmax = [&](const Values& values) {
    const Values row = on_row(dtype, values, "e = exp(y - max(y, dim=1)); e / sum(e, dim=1)");
    const Values column = on_column(dtype, values, "e = exp(y - max(y, dim=0)); e / sum(e, dim=0)");
    CHECK(same(row, column));
    return row;
  };
  CHECK(same(softmax({0, -infinity}), {1, 0}));
  CHECK(
      same(softmax({-infinity, -infinity, -infinity}), {not_a_number, not_a_number, not_a_number}));
  CHECK(std::isnan(softmax({0, infinity})[1]));
  CHECK(same(softmax({1000, 1000}), {0.5, 0.5}));
  CHECK(same(softmax({-1e30, 0}), {0, 1}));
  CHECK(same(softmax({5}), {1}));
}

TEST_CASE("sumexp is NaN where the largest element is infinite", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const auto sumexp = [&](const Values& values) {
    const Values row = on_row(dtype, values, "sumexp(y, dim=1)");
    CHECK(same(row, on_column(dtype, values, "sumexp(y, dim=0)")));
    return row.at(0);
  };
  CHECK(std::isnan(sumexp({0, infinity})));
  CHECK(std::isnan(sumexp({-infinity, infinity})));
  CHECK(std::isnan(sumexp({-infinity, -infinity})));
  CHECK(std::isnan(sumexp({-infinity})));
  CHECK(std::isnan(sumexp({not_a_number, 1})));
  CHECK(sumexp({-infinity, 3}) == 1);
  CHECK(sumexp({1e30, 0}) == 1);
  CHECK(sumexp({1000, 1000, -1000}) == 2);
  for (const std::int64_t n : tail_lengths()) {
    Values one(static_cast<std::size_t>(n), -infinity);
    CHECK(std::isnan(sumexp(one)));
    one.back() = -2;
    CHECK(sumexp(one) == 1);
    CHECK(sumexp(Values(static_cast<std::size_t>(n), 7.0)) == static_cast<double>(n));
  }
}

TEST_CASE("logsumexp is stable and right for infinities", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const auto logsumexp = [&](const Values& values) {
    const Values row = on_row(dtype, values, "logsumexp(y, dim=1)");
    CHECK(same(row, on_column(dtype, values, "logsumexp(y, dim=0)")));
    return row.at(0);
  };
  CHECK(logsumexp({-infinity, -infinity, -infinity}) == -infinity);
  CHECK(logsumexp({-infinity}) == -infinity);
  CHECK(logsumexp({0, infinity}) == infinity);
  CHECK(logsumexp({-infinity, infinity}) == infinity);
  CHECK(logsumexp({infinity, infinity}) == infinity);
  CHECK(std::isnan(logsumexp({infinity, not_a_number})));
  CHECK(std::isnan(logsumexp({not_a_number, -infinity})));
  CHECK(logsumexp({-infinity, 3}) == 3);
  CHECK(std::abs(logsumexp({1000, 1000}) - 1000.6931471805599) <= 1000 * epsilon(dtype));
  CHECK(std::abs(logsumexp({-1000, -1000}) + 999.3068528194401) <= 1000 * epsilon(dtype));
  for (const std::int64_t n : tail_lengths()) {
    const Values low(static_cast<std::size_t>(n), -infinity);
    CHECK(logsumexp(low) == -infinity);
    Values one = low;
    one.back() = -2;
    CHECK(logsumexp(one) == -2);
    one.back() = infinity;
    CHECK(logsumexp(one) == infinity);
  }
}

TEST_CASE("no NaN comes out of an output that was filled with NaN before", "[special_values]") {
  // Outputs and workspace start as NaN in every test; here full and partial tiles side by side.
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const std::int64_t size : {64, 65, 128, 130, 256, 257})
    for (Settings settings : layouts_of(Settings())) {
      settings.dtype = dtype;
      settings.m = size;
      settings.n = size + 1;
      settings.k = 33;
      Random random;
      INFO(random.hint());
      INFO(describe(settings));
      Workload workload(settings, "return y, max(y, dim=0), sum(relu(y), dim=1)");
      workload.fill_real(random);
      workload.execute();
      for (std::size_t i = 0; i < 3; ++i) CHECK(count_nan(workload.output(i).elements()) == 0);
      check_real(workload);
    }
}

TEST_CASE("every activation has its limit at infinity", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const auto check = [&](const std::string& text, double at_minus_infinity, double at_infinity) {
    INFO(text);
    CHECK(same(on_row(dtype, {-infinity, infinity}, text), {at_minus_infinity, at_infinity}));
  };
  check("gelu(y)", 0, infinity);
  check("gelu_tanh(y)", 0, infinity);
  check("relu(y)", 0, infinity);
  check("leaky_relu(y)", -infinity, infinity);
  check("silu(y)", 0, infinity);
  check("sigmoid(y)", 0, 1);
  check("tanh(y)", -1, 1);
  check("erf(y)", -1, 1);
  check("elu(y)", -1, infinity);
  check("celu(y)", -1, infinity);
  check("relu6(y)", 0, 6);
  check("softplus(y)", 0, infinity);
  check("logsigmoid(y)", -infinity, 0);
  check("softsign(y)", -1, 1);
  check("mish(y)", 0, infinity);
  check("hardswish(y)", 0, infinity);
  check("hardsigmoid(y)", 0, 1);
  check("hardtanh(y)", -1, 1);
  check("exp(y)", 0, infinity);
  check("expm1(y)", -1, infinity);
  check("sign(y)", -1, 1);
  check("abs(y)", infinity, infinity);
  check("log(y)", not_a_number, infinity);
  check("sqrt(y)", not_a_number, infinity);
  check("sin(y)", not_a_number, not_a_number);
  check("clamp(y, -3, 4)", -3, 4);
  check("y * 0", not_a_number, not_a_number);
  check("y - y", not_a_number, not_a_number);
  check("1 / y", 0, 0);
}

TEST_CASE("functions agree with the reference on special values, at every place of a vector",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const double largest = dtype == DataType::float32
                             ? static_cast<double>(std::numeric_limits<float>::max())
                             : std::numeric_limits<double>::max();
  const double tiny = dtype == DataType::float32
                          ? static_cast<double>(std::numeric_limits<float>::denorm_min())
                          : std::numeric_limits<double>::denorm_min();
  const double smallest = dtype == DataType::float32
                              ? static_cast<double>(std::numeric_limits<float>::min())
                              : std::numeric_limits<double>::min();
  const Values values = {
      0,        1,        -1,        0.5,       -0.5,      1.5,      2.5,          -2.5,
      3,        -3,       6,         -6,        20,        20.25,    -20.25,       80,
      -80,      100,      -100,      1000,      -1000,     infinity, -infinity,    largest,
      -largest, smallest, -smallest, 8 * tiny,  tiny,      -tiny,    not_a_number, 0x1p-12,
      -0x1p-12, 0x1p-23,  -0x1p-23,  8388609.0, -8388609.0};
  // As operands: a vendor's GEMM may flush a subnormal y to zero.
#define POSTLUDE_CHECK(name, arity, signature, formula)                            \
  {                                                                                \
    const detail::OperationSignature& row = detail::signature_of(Operation::name); \
    INFO(#name);                                                                   \
    if (row.parameters.size() == 1 || row.parameters[1].has_default) {             \
      on_row(dtype, values, #name "(v)", {{"v", OperandKind::row, values}});       \
      on_column(dtype, values, #name "(v)", {{"v", OperandKind::column, values}}); \
    }                                                                              \
  }
  POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_CHECK)
#undef POSTLUDE_CHECK
  // Each with each, as both operands.
  for (std::size_t shift = 0; shift < values.size(); ++shift) {
    Values shifted;
    for (std::size_t i = 0; i < values.size(); ++i)
      shifted.push_back(values[(i + shift) % values.size()]);
    for (const std::string text : {"min(v, a)", "max(v, a)", "v + a", "v - a", "v * a", "v < a",
                                   "v == a", "where(v, a, 1)", "clamp(v, a, 3)"})
      on_row(dtype, values, text,
             {{"v", OperandKind::row, values}, {"a", OperandKind::row, shifted}});
  }
}
