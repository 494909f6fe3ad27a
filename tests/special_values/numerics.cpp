#include "support/catch.hpp"

#include <string>
#include <vector>

#include "support/error_model.hpp"
#include "support/given_values.hpp"
#include "support/programs.hpp"
#include "support/workload.hpp"

using namespace postlude;
using namespace postlude::test;

namespace {

using Values = std::vector<double>;

bool is_near(double value, double expected, double relative) {
  return std::abs(value - expected) <= relative * std::abs(expected);
}

std::vector<double> run(const Settings& settings, const std::string& text, double x, double w,
                        const std::vector<Given>& operands) {
  std::vector<OperandDeclaration> declarations;
  for (const Given& operand : operands) declarations.push_back({operand.name, operand.kind});
  Workload workload(settings, text, declarations);
  workload.x().fill([x] { return x; });
  workload.w().fill([w] { return w; });
  for (const Given& operand : operands) {
    if (operand.kind == OperandKind::scalar)
      workload.bind(operand.name, operand.values[0]);
    else
      workload.operand(operand.name).fill(operand.values);
  }
  workload.execute();
  return workload.output().elements();
}

}  // namespace

TEST_CASE("gelu keeps its digits where 1 + erf cancels", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  // In float32 v/sqrt(2) is rounded, and erfc(z) changes by 2 z^2 times that: 40 units at z = 4.24.
  const double relative = 100 * epsilon(dtype);
  const Values results = on_row(dtype, {-5, -5.5, -6, -3, 12, -1}, "gelu(y)");
  CHECK(is_near(results[0], -1.4332578593959731e-06, relative));
  CHECK(is_near(results[1], -1.0444259356238256e-07, relative));
  CHECK(is_near(results[2], -5.919525870226207e-09, relative));
  CHECK(is_near(results[3], -0.004049694094890287, relative));
  CHECK(results[4] == 12);
  CHECK(is_near(results[5], -0.15865525393145707, relative));
}

TEST_CASE("gelu and gelu_tanh are two functions, each with its own digits", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const double relative = 100 * epsilon(dtype);
  const Values points = {-5, -3, -2, -0.5, 1, 2.5, 12};
  const Values erf_form = on_row(dtype, points, "gelu(y)");
  const Values tanh_form = on_row(dtype, points, "gelu_tanh(y)");
  CHECK(is_near(tanh_form[0], -2.2917961966295044e-07, relative));
  CHECK(is_near(tanh_form[1], -0.003637392081773019, relative));
  CHECK(is_near(tanh_form[2], -0.045402305912224966, relative));
  CHECK(is_near(tanh_form[4], 0.8411919906082768, relative));
  CHECK(tanh_form[6] == 12);
  for (std::size_t i = 0; i < points.size(); ++i) {
    INFO("at " << points[i]);
    CHECK(std::abs(tanh_form[i] - erf_form[i]) < 4.8e-4);
    if (points[i] < 10) CHECK(std::abs(tanh_form[i] - erf_form[i]) > 1e-6);
  }
}

TEST_CASE("activations of large values do not overflow on the way", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  CHECK(on_value(dtype, 100, "softplus(y)") == 100);
  CHECK(on_value(dtype, 1000, "softplus(y, threshold=inf)") == 1000);
  CHECK(is_near(on_value(dtype, 12, "softplus(y)"), 12.000006144193478, 4 * epsilon(dtype)));
  CHECK(is_near(on_value(dtype, -100, "softplus(y)"), 3.720075976020836e-44, 0.02));
  CHECK(on_value(dtype, 11648, "hardswish(y)") == 11648);
  CHECK(on_value(dtype, 0x1p127, "hardswish(y)") == 0x1p127);
  CHECK(on_value(dtype, infinity, "mish(y)") == infinity);
  CHECK(on_value(dtype, 100, "mish(y)") == 100);
  CHECK(on_value(dtype, 0x1p127, "mish(y)") == 0x1p127);
  CHECK(on_value(dtype, 0x1p127, "gelu(y)") == 0x1p127);
  CHECK(on_value(dtype, 0x1p127, "gelu_tanh(y)") == 0x1p127);
  CHECK(on_value(dtype, 0x1p127, "silu(y)") == 0x1p127);
  CHECK(on_value(dtype, 0x1p127, "softsign(y)") == 1);
  CHECK(on_value(dtype, 1000, "sigmoid(y)") == 1);
  CHECK(on_value(dtype, -1000, "logsigmoid(y)") == -1000);
  CHECK(on_value(dtype, 1000, "elu(y)") == 1000);
  CHECK(on_value(dtype, 1000, "celu(y)") == 1000);
  CHECK(on_value(dtype, 1000, "tanh(y)") == 1);
}

TEST_CASE("activations of small values keep their digits", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const double v = 0x1p-30;
  // Rounding, and the next term of the series.
  const double relative = 8 * epsilon(dtype) + 2 * v;
  for (const std::string text :
       {"elu(y)", "celu(y)", "tanh(y)", "expm1(y)", "log1p(y)", "sin(y)", "softsign(y)", "y"}) {
    INFO(text);
    CHECK(is_near(on_value(dtype, v, text), v, relative));
    CHECK(is_near(on_value(dtype, -v, text), -v, relative));
  }
  CHECK(is_near(on_value(dtype, v, "gelu(y)"), v / 2, relative));
  CHECK(is_near(on_value(dtype, v, "mish(y)"), 0.6 * v, relative));
  CHECK(is_near(on_value(dtype, -80, "sigmoid(y)"), 1.8048513878454153e-35, 100 * epsilon(dtype)));
  CHECK(is_near(on_value(dtype, -80, "silu(y)"), -1.4438811102763322e-33, 100 * epsilon(dtype)));
}

TEST_CASE("a layer norm written by hand is right far from zero", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::vector<std::string> texts = {
      "d = y - mean(y, dim=1); d / sqrt(mean(d * d, dim=1) + 1e-5)",
      "(y - mean(y, dim=1)) * rsqrt(var(y, dim=1, correction=0) + 1e-5)"};
  for (const std::string& text : texts) {
    const Values results = on_row(dtype, {40000, 40001, 40002, 40003}, text);
    INFO(text);
    CHECK(std::abs(results[0] + 1.341635) < 2e-6);
    CHECK(std::abs(results[1] + 0.447212) < 2e-6);
    CHECK(std::abs(results[2] - 0.447212) < 2e-6);
    CHECK(std::abs(results[3] - 1.341635) < 2e-6);
  }
}

TEST_CASE("mean and variance of many values around 100 keep their digits", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const bool is_row = GENERATE(true, false);
  Random random;
  INFO(random.hint());
  Settings settings;
  settings.dtype = dtype;
  (is_row ? settings.n : settings.m) = 32768;
  const std::string dim = is_row ? "1" : "0";
  Workload workload(settings, "m = mean(y, dim=" + dim + "); v = var(y, dim=" + dim +
                                  ", correction=0)\nreturn m, v, (y - m) / sqrt(v + 1e-5)");
  const auto normal = [&] {  // the sum of 12 uniform numbers, close enough
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.uniform(0, 1);
    return sum;
  };
  (is_row ? workload.x() : workload.w()).fill([] { return 1.0; });
  (is_row ? workload.w() : workload.x()).fill([&] { return 100 + 0.01 * normal(); });
  workload.execute();
  const auto expected =
      detail::reference::expected_results(workload.plan(), workload.host_arguments());
  // Sums in float64 of 32768 numbers: the results are as good as their last rounding.
  CHECK(is_near(workload.output(0).get(0), expected[0].value.values[0], 2 * epsilon(dtype)));
  const double variance = expected[1].value.values[0];
  CHECK(is_near(workload.output(1).get(0), variance,
                dtype == DataType::float32 ? 4 * epsilon(dtype) : 1e-11));
  // y - m is rounded at 100, and 0.01 of it is left.
  Array allowed(expected[2].value.shape);
  for (double& value : allowed.values) value = 8 * 100 * epsilon(dtype) / std::sqrt(variance);
  check_elements(workload.output(2), expected[2].value, allowed);
}

TEST_CASE("a variance is never NaN for finite values, however large", "[special_values]") {
  const double large[] = {1e154, 1e160, 1e200, 1e300};
  for (const double value : large) {
    INFO("of " << value);
    for (const std::size_t count : {1, 2, 3, 4, 7, 100, 300}) {
      INFO(count << " elements");
      const Values equal(count, value);
      CHECK(on_row(DataType::float64, equal, "var(y, dim=1, correction=0)") == Values{0});
      CHECK(on_column(DataType::float64, equal, "var(y, dim=0, correction=0)") == Values{0});
      // Where the mean is exact; otherwise its rounding is left, times 1/sqrt(eps).
      if ((count & (count - 1)) == 0)
        CHECK(on_row(DataType::float64, equal, "layer_norm(y)") == Values(count, 0.0));
    }
  }
  // The squares overflow; the variance with them.
  for (Values values : {Values{1e160, 0, 0, 0}, Values{0, 0, 0, 1e160}, Values{1e160, -1e160}}) {
    CHECK(on_row(DataType::float64, values, "var(y, dim=1)") == Values{infinity});
    CHECK(on_column(DataType::float64, values, "std(y, dim=0)") == Values{infinity});
    values.resize(1000, 0.0);
    CHECK(on_row(DataType::float64, values, "var(y, dim=1)") == Values{infinity});
  }
  CHECK(on_row(DataType::float32, Values(5, 3e38), "var(y, dim=1)") == Values{0});
}

TEST_CASE("logsumexp of one element is that element", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const double value : {0.0, 0x1p-43, -0x1p-33, 1.0, -3.5}) {
    INFO(value);
    CHECK(on_row(dtype, {value}, "logsumexp(y, dim=1)") == Values{value});
    CHECK(on_column(dtype, {value}, "logsumexp(y, dim=0)") == Values{value});
  }
  CHECK(on_row(dtype, {0, -1e30, -1e30, -1e30}, "logsumexp(y, dim=1)") == Values{0});
}

TEST_CASE("sums of ones are exact, however many", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const std::size_t n : {20000u, 70000u, 300007u}) {
    const Values ones(n, 1.0);
    INFO(n);
    const double count = static_cast<double>(n);
    CHECK(same(on_row(dtype, ones, "sum(y, dim=1)"), {count}));
    CHECK(same(on_column(dtype, ones, "sum(y, dim=0)"), {count}));
    CHECK(same(on_row(dtype, ones, "mean(y, dim=1)"), {1}));
    CHECK(same(on_column(dtype, ones, "mean(y, dim=0)"), {1}));
  }
}

TEST_CASE("small terms are not lost in a large sum", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  // The large terms cancel; the small ones are below half a unit in their last place.
  const double large = dtype == DataType::float32 ? 0x1p30 : 0x1p60;
  Values values(4099, 1.0);
  values[0] = large;
  values[4098] = -large;
  CHECK(same(on_row(dtype, values, "sum(y, dim=1)"), {4097}));
  CHECK(same(on_column(dtype, values, "sum(y, dim=0)"), {4097}));
}

TEST_CASE("softmax written by hand of equal values divides 1 evenly", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const Values results =
      on_row(dtype, Values(512, 7.25), "e = exp(y - max(y, dim=1)); e / sum(e, dim=1)");
  CHECK(results == Values(512, 1.0 / 512));
}

TEST_CASE("norms neither overflow nor vanish on the way", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const double relative = 4 * epsilon(dtype);
  const double huge = dtype == DataType::float32 ? 0x1p120 : 0x1p1000;
  CHECK(is_near(on_row(dtype, {3 * huge, 4 * huge}, "norm(y, dim=1)")[0], 5 * huge, relative));
  CHECK(is_near(on_column(dtype, {3 / huge, 4 / huge}, "norm(y, dim=0)")[0], 5 / huge, relative));
  CHECK(on_row(dtype, {3, -4}, "norm(y, dim=1, p=inf)")[0] == 4);
  CHECK(on_row(dtype, {0, 0}, "norm(y, dim=1)")[0] == 0);
  CHECK(on_row(dtype, {-infinity, 1}, "norm(y, dim=1)")[0] == infinity);
}

TEST_CASE("operations run in the order in which they are written", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::pair<std::string, std::string> pairs[] = {
      {"sigmoid(y + c)", "sigmoid(y) + c"},
      {"relu(y * c)", "relu(y) * c"},
      {"tanh(clamp(y, -0.5, c))", "clamp(tanh(y), -0.5, c)"}};
  for (const auto& pair : pairs)
    for (const double c : {0.25, -0.75}) {
      Settings settings;
      settings.dtype = dtype;
      settings.m = settings.n = settings.k = 256;
      Random random;
      INFO(random.hint());
      INFO(pair.first << " and " << pair.second << ", c = " << c);
      Workload first(settings, pair.first, {{"c", OperandKind::scalar}});
      Workload second(settings, pair.second, {{"c", OperandKind::scalar}});
      first.fill_real(random);
      first.bind("c", c);
      second.bind("c", c);
      second.x().fill(first.x().elements());
      second.w().fill(first.w().elements());
      first.execute();
      second.execute();
      check_real(first);
      check_real(second);
      const bool may_be_equal = pair.first == "relu(y * c)" && c > 0;
      if (!may_be_equal) CHECK(first.output().elements() != second.output().elements());
    }
}

TEST_CASE("a scale is not moved past the bias", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Settings settings;
  settings.dtype = dtype;
  settings.m = 3;
  settings.n = 5;
  settings.k = 4;
  CHECK(run(settings, "2 * (y + b)", 0, 1, {{"b", OperandKind::row, Values(5, 1.0)}}) ==
        Values(15, 2.0));
}

TEST_CASE("a bias belongs to its column in every layout, also when y is square",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const std::int64_t m : {8, 3, 11}) {
    for (const ResultLayout layout :
         {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any}) {
      Settings settings;
      settings.dtype = dtype;
      settings.m = m;
      settings.n = 8;
      settings.k = 2;
      settings.result = layout;
      INFO(describe(settings));
      const Values bias = {1, 2, 3, 4, 5, 6, 7, 8};
      Values expected;
      for (std::int64_t i = 0; i < m; ++i)
        expected.insert(expected.end(), bias.begin(), bias.end());
      CHECK(run(settings, "y + b", 0, 0, {{"b", OperandKind::row, bias}}) == expected);

      Values column(static_cast<std::size_t>(m));
      Values by_rows;
      for (std::size_t i = 0; i < column.size(); ++i) {
        column[i] = static_cast<double>(i + 1);
        by_rows.insert(by_rows.end(), 8, column[i]);
      }
      CHECK(run(settings, "y + b", 0, 0, {{"b", OperandKind::column, column}}) == by_rows);
    }
  }
}

TEST_CASE("an activation applies to the whole dot product, and a bias counts once",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Settings settings;
  settings.dtype = dtype;
  // The same two products among ever more zeros: split points fall everywhere.
  for (const std::int64_t k : {2, 3, 64, 257, 4096, 16384}) {
    settings.k = k;
    INFO(describe(settings));
    const auto result = [&](const std::string& text) {
      Workload workload(settings, text, {{"b", OperandKind::row}});
      workload.x().fill([] { return 0.0; });
      workload.x().set(-5, 0, 0);
      workload.x().set(5.5, 0, k - 1);
      workload.w().fill([] { return 1.0; });
      workload.operand("b").set(3, 0);
      workload.execute();
      return workload.output().get(0, 0);
    };
    CHECK(result("relu(y)") == 0.5);
    CHECK(result("clamp(y, 0, 1)") == 0.5);
    CHECK(result("y + b") == 3.5);
  }
}

TEST_CASE("a value that is used twice survives", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  CHECK(on_value(dtype, -1, "relu(y) + y") == -1);
  CHECK(on_value(dtype, -1, "y + relu(y)") == -1);
  CHECK(on_value(dtype, -3, "a = y * y; relu(y) + a * y + a") == -18);
  CHECK(same(on_row(dtype, {-1, 4}, "relu(y) + y - max(y, dim=1) * (y > 0)"), {-1, 4}));
}
