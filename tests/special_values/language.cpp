#include "support/catch.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "reference/reference_results.hpp"
#include "support/error_model.hpp"
#include "support/given_values.hpp"
#include "support/mixed_workload.hpp"
#include "support/random.hpp"

using namespace postlude;
using namespace postlude::test;

// Special values in the functions that are made of others, and numbers that are hard to sum.

namespace {

using Values = std::vector<double>;

/// The result where y is one row, or one column, of these values; agrees with the reference.
Values result_of(DataType dtype, const Values& values, bool is_row, const std::string& text) {
  Values first;
  for (const ResultLayout layout :
       {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any}) {
    MixedSettings settings;
    settings.base.dtype = settings.output_dtype = settings.operand_dtype = dtype;
    (is_row ? settings.base.n : settings.base.m) = static_cast<std::int64_t>(values.size());
    settings.base.result = layout;
    INFO(text << ", " << describe(settings));
    MixedWorkload workload(settings, text);
    Random random;
    // What is given is exact: y = 1 * values.
    workload.fill_exact(random);
    fill(is_row ? workload.x() : workload.w(), [] { return 1.0; });
    fill(is_row ? workload.w() : workload.x(), values);
    workload.execute();
    workload.check();
    const Values result = elements(workload.output());
    if (layout == ResultLayout::row_major) first = result;
    CHECK(same(result, first));
  }
  return first;
}

Values on_row_of(DataType dtype, const Values& values, const std::string& text) {
  return result_of(dtype, values, true, text);
}
Values on_column_of(DataType dtype, const Values& values, const std::string& text) {
  return result_of(dtype, values, false, text);
}

std::vector<DataType> float_dtypes() {
  return {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16};
}

double normal(Random& random) {  // the sum of 12 uniform numbers, close enough
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform(0, 1);
  return sum;
}

bool all_nan(const Values& values) {
  for (const double value : values)
    if (!std::isnan(value)) return false;
  return true;
}

}  // namespace

TEST_CASE("softmax is right for infinities and large values", "[special_values]") {
  for (const DataType dtype : float_dtypes()) {
    const auto softmax = [&](const Values& values) {
      const Values row = on_row_of(dtype, values, "softmax(y, dim=1)");
      CHECK(same(row, on_column_of(dtype, values, "softmax(y, dim=0)")));
      return row;
    };
    CHECK(same(softmax({0, -infinity}), {1, 0}));
    CHECK(all_nan(softmax({-infinity, -infinity, -infinity})));
    CHECK(all_nan(softmax({-infinity})));
    CHECK(std::isnan(softmax({0, infinity})[1]));
    CHECK(all_nan(softmax({infinity, infinity})));
    CHECK(all_nan(softmax({1, not_a_number, 2})));
    CHECK(same(softmax({1000, 1000}), {0.5, 0.5}));
    CHECK(same(softmax({-30000, 0}), {0, 1}));
    CHECK(same(softmax({5}), {1}));
    // Rows narrower and wider than a block.
    for (const std::size_t n : {3u, 31u, 33u, 257u, 1025u}) {
      Values low(n, -infinity);
      CHECK(all_nan(softmax(low)));
      low.back() = 2;
      Values one(n, 0.0);
      one.back() = 1;
      CHECK(same(softmax(low), one));
    }
    CHECK(same(softmax(Values(512, 3.0)), Values(512, 1.0 / 512)));
  }
}

TEST_CASE("log_softmax is right for infinities and keeps small differences", "[special_values]") {
  for (const DataType dtype : {DataType::float32, DataType::float64}) {
    const auto log_softmax = [&](const Values& values) {
      const Values row = on_row_of(dtype, values, "log_softmax(y, dim=1)");
      CHECK(same(row, on_column_of(dtype, values, "log_softmax(y, dim=0)")));
      return row;
    };
    CHECK(same(log_softmax({0, -infinity}), {0, -infinity}));
    CHECK(all_nan(log_softmax({-infinity, -infinity})));
    CHECK(std::isnan(log_softmax({0, infinity})[1]));
    CHECK(same(log_softmax({-1000, 0}), {-1000, 0}));
    CHECK(same(log_softmax({7}), {0}));
    const Values near = log_softmax({1000, 1001});
    CHECK(std::abs(near[0] + 1.3132616875182228) <= 8 * epsilon(dtype));
    CHECK(std::abs(near[1] + 0.3132616875182228) <= 8 * epsilon(dtype));
  }
}

TEST_CASE("norms of a row far from zero keep their digits", "[special_values]") {
  const Values far = {40000, 40001, 40002, 40003};
  for (const DataType dtype : {DataType::float32, DataType::float64})
    for (const std::string text :
         {"layer_norm(y)", "instance_norm(y)", "group_norm(y, groups=1)"}) {
      INFO(text);
      const Values results = on_row_of(dtype, far, text);
      CHECK(std::abs(results[0] + 1.341635) < 2e-6);
      CHECK(std::abs(results[1] + 0.447212) < 2e-6);
      CHECK(std::abs(results[2] - 0.447212) < 2e-6);
      CHECK(std::abs(results[3] - 1.341635) < 2e-6);
    }
  for (const DataType dtype : {DataType::float32, DataType::float64}) {
    const Values results = on_column_of(dtype, far, "batch_norm(y)");
    CHECK(std::abs(results[0] + 1.341635) < 2e-6);
    CHECK(std::abs(results[3] - 1.341635) < 2e-6);
  }
}

TEST_CASE("layer_norm of many values around 100 keeps their digits", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Random random;
  INFO(random.hint());
  Values values(32768);
  for (double& value : values) value = 100 + 0.01 * normal(random);
  const Values by_row = on_row_of(dtype, values, "layer_norm(y)");
  const Values by_column = on_column_of(dtype, values, "batch_norm(y)");
  // The normalised values have mean 0 and variance 1e-4 / (1e-4 + 1e-5).
  for (const Values& results : {by_row, by_column}) {
    double sum = 0;
    double squares = 0;
    for (const double value : results) {
      sum += value;
      squares += value * value;
    }
    const auto count = static_cast<double>(values.size());
    // The mean is rounded to the dtype at 100, which moves all values by that over the deviation.
    CHECK(std::abs(sum / count) <= 100 * epsilon(dtype) / 0.01);
    CHECK(std::abs(squares / count - 1 / 1.1) <= 0.02);
  }
}

TEST_CASE("the variance of values around 1e4 that differ by 1e-2 is right", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Random random;
  INFO(random.hint());
  for (const std::size_t n : {2u, 7u, 1000u, 32768u}) {
    INFO(n << " values");
    Values values(n);
    for (double& value : values) value = 1e4 + 0.01 * normal(random);
    for (const std::string name : {"var", "std"}) {
      on_row_of(dtype, values, name + "(y, dim=1)");
      on_column_of(dtype, values, name + "(y, dim=0)");
      on_row_of(dtype, values, name + "(y, dim=1, correction=0)");
    }
  }
  // All equal: no spread at all, however large.
  CHECK(on_row_of(dtype, Values(1001, 12345.678), "var(y, dim=1)") == Values{0});
  CHECK(on_column_of(dtype, Values(1001, 12345.678), "var(y, dim=0)") == Values{0});
}

TEST_CASE("sums of a million terms do not drift", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const bool is_row = GENERATE(true, false);
  const auto sum = [&](const Values& values, const std::string& name) {
    const std::string text = name + "(y, dim=" + (is_row ? "1" : "0") + ")";
    return result_of(dtype, values, is_row, text).at(0);
  };
  constexpr std::size_t count = 1000003;
  // 0.1 is rounded in the dtype; its multiples must not be.
  const double tenth = dtype == DataType::float32 ? static_cast<double>(0.1f) : 0.1;
  const double expected = tenth * static_cast<double>(count);
  const Values tenths(count, tenth);
  CHECK(std::abs(sum(tenths, "sum") - expected) <= epsilon(dtype) * expected);
  CHECK(std::abs(sum(tenths, "mean") - tenth) <= epsilon(dtype) * tenth);
  Random random;
  INFO(random.hint());
  Values mixed(count);
  for (double& value : mixed) value = random.uniform(0, 1);
  sum(mixed, "sum");
  sum(mixed, "logsumexp");
  sum(mixed, "norm");
  // A large term that comes and goes.
  mixed.assign(count, 1.0);
  mixed[1] = dtype == DataType::float32 ? 0x1p40 : 0x1p70;
  mixed[count - 2] = -mixed[1];
  CHECK(sum(mixed, "sum") == static_cast<double>(count - 2));
}

TEST_CASE("subnormal numbers are kept", "[special_values]") {
  // exp(-100) in float32 is 26.55 units of the smallest number.
  const double unit = 0x1p-149;
  const DataType f32 = DataType::float32;
  for (const std::string text : {"exp(y)", "sigmoid(y)", "softplus(y)", "exp(y) * 1"}) {
    INFO(text);
    const double value = on_row_of(f32, {-100, -100, -100}, text).at(1);
    CHECK(std::abs(value - 3.720075976020836e-44) <= unit);
    CHECK(value > 0);
  }
  CHECK(std::abs(on_row_of(f32, {-100}, "silu(y)").at(0) + 3.720075976020836e-42) <= 101 * unit);
  // 530 units: a factor of exp(-99), which is 50 of them and rounded to a whole one, costs up to 5.
  CHECK(std::abs(on_row_of(f32, {-10.5}, "gelu_tanh(y)").at(0) + 7.42490055607904e-43) <= 2 * unit);
  // y is 2**100 times as large as what is computed with: a vendor's GEMM may flush a subnormal y.
  const auto kept = [](DataType dtype, Values values, const std::string& text) {
    for (double& value : values) value *= 0x1p100;
    return on_row_of(dtype, values, "v = y * 7.888609052210118e-31; " + text);
  };
  const Values tiny = {unit, -unit, 3 * unit, 0x1p-127, -0x1p-130};
  CHECK(kept(f32, tiny, "v") == tiny);
  CHECK(kept(f32, tiny, "v + 0") == tiny);
  CHECK(kept(f32, tiny, "max(v, -1)") == tiny);
  CHECK(kept(f32, tiny, "abs(v)") == Values{unit, unit, 3 * unit, 0x1p-127, 0x1p-130});
  CHECK(kept(f32, {unit, unit, unit}, "sum(v, dim=1)") == Values{3 * unit});
  CHECK(kept(f32, {0x1p-126, 0x1p-127}, "v * 0.5") == Values{0x1p-127, 0x1p-128});
  const Values tiny64 = {0x1p-1074, -0x1p-1070, 0x1p-1023};
  CHECK(kept(DataType::float64, tiny64, "v + 0") == tiny64);
  const Values tiny16 = {0x1p-24, -0x1p-20, 0x1p-15};
  CHECK(on_row_of(DataType::float16, tiny16, "y + 0") == tiny16);
  const Values tiny_b16 = {0x1p-133, -0x1p-130, 0x1p-127};
  CHECK(kept(DataType::bfloat16, tiny_b16, "v + 0") == tiny_b16);
}

TEST_CASE("a NaN spoils its own row, group, column or window, and no other", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const auto spoilt_row = [&](const std::string& text) {
    Values values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    values[5] = not_a_number;
    std::string places;
    for (const double value : on_row_of(dtype, values, text))
      places += std::isnan(value) ? 'x' : '.';
    return places;
  };
  CHECK(spoilt_row("layer_norm(y)") == "xxxxxxxxxxxx");
  CHECK(spoilt_row("rms_norm(y)") == "xxxxxxxxxxxx");
  CHECK(spoilt_row("l2_normalize(y)") == "xxxxxxxxxxxx");
  CHECK(spoilt_row("softmax(y, dim=1)") == "xxxxxxxxxxxx");
  CHECK(spoilt_row("group_norm(y, groups=3)") == "....xxxx....");
  CHECK(spoilt_row("group_norm(y, groups=12)") == ".....x......");
  CHECK(spoilt_row("batch_norm(y)") == ".....x......");
  CHECK(spoilt_row("softmax(y, dim=0)") == ".....x......");
  CHECK(spoilt_row("max_pool(y, 2)") == "..x...");
  CHECK(spoilt_row("max_pool(y, 3, 1)") == "...xxx....");
  CHECK(spoilt_row("avg_pool(y, 4)") == ".x.");
  CHECK(spoilt_row("avg_pool(y, 2, 5)") == ".x.");
}

TEST_CASE("norms of constant and of zero rows are zero, not NaN", "[special_values]") {
  for (const DataType dtype : float_dtypes()) {
    for (const double value : {0.0, 3.0, -1000.0}) {
      const Values equal(37, value);
      const Values zeros(37, 0.0);
      CHECK(same(on_row_of(dtype, equal, "layer_norm(y)"), zeros));
      CHECK(same(on_row_of(dtype, equal, "instance_norm(y)"), zeros));
      CHECK(same(on_row_of(dtype, equal, "group_norm(y, groups=37)"), zeros));
      CHECK(same(on_column_of(dtype, equal, "batch_norm(y)"), zeros));
      CHECK(same(on_row_of(dtype, equal, "batch_norm(y)"), zeros));
    }
    CHECK(same(on_row_of(dtype, Values(37, 0.0), "rms_norm(y)"), Values(37, 0.0)));
    CHECK(same(on_row_of(dtype, Values(37, 0.0), "l2_normalize(y)"), Values(37, 0.0)));
    CHECK(same(on_row_of(dtype, {3, -4}, "l2_normalize(y) * 5"), {3, -4}));
    // Without eps a constant row is 0 / 0.
    CHECK(all_nan(on_row_of(dtype, {0, 0}, "layer_norm(y, eps=0)")));
  }
}

TEST_CASE("pools choose as max and mean do", "[special_values]") {
  for (const DataType dtype : float_dtypes()) {
    CHECK(same(on_row_of(dtype, {-infinity, -infinity, 1, -infinity}, "max_pool(y, 2)"),
               {-infinity, 1}));
    CHECK(same(on_row_of(dtype, {infinity, -infinity, 1, infinity}, "avg_pool(y, 2)"),
               {not_a_number, infinity}));
    CHECK(same(on_row_of(dtype, {-5, -3, -4, -9}, "max_pool(y, 2)"), {-3, -4}));
  }
}

TEST_CASE("dropout of infinities and NaN keeps or clears them as a product does",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const Values results = on_row_of(dtype, Values(64, infinity), "dropout(y, p=0.5, seed=1)");
  for (const double value : results) CHECK((value == infinity || std::isnan(value)));
  CHECK(all_nan(on_row_of(dtype, Values(64, not_a_number), "dropout(y, p=0.5, seed=1)")));
}
