#include "support/catch.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <postlude/error.hpp>

#include "expression/signature.hpp"
#include "support/case_count.hpp"
#include "support/errors.hpp"
#include "support/mixed_workload.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

// Normalisations, pooling and dropout: every composite function of the operation table.

namespace {

std::vector<OperandDeclaration> operands() {
  return {{"g", OperandKind::row},    {"b", OperandKind::row},    {"mu", OperandKind::row},
          {"c", OperandKind::column}, {"r", OperandKind::matrix}, {"s", OperandKind::scalar},
          {"q", OperandKind::scalar}};
}

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> list;
  for (std::int64_t d = 1; d <= n; ++d)
    if (n % d == 0) list.push_back(d);
  return list;
}

/// 1, n and up to three divisors in between.
std::vector<std::int64_t> group_counts(std::int64_t n) {
  const std::vector<std::int64_t> all = divisors(n);
  if (all.size() <= 5) return all;
  return {1, all[1], all[all.size() / 2], all[all.size() - 2], n};
}

std::vector<std::string> calls_of_group_norm(std::int64_t n) {
  std::vector<std::string> calls;
  const std::vector<std::int64_t> groups = group_counts(n);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string count = std::to_string(groups[i]);
    const std::string other = std::to_string(groups[groups.size() - 1 - i]);
    calls.push_back("group_norm(y, groups=" + count + ")");
    calls.push_back("group_norm(y + b, groups=" + count + ", weight=g, bias=b, eps=1e-3)");
    calls.push_back("group_norm(y * s, " + count + ", g, b) + y");
    // Groups of one kind inside groups of another.
    calls.push_back("group_norm(group_norm(y, groups=" + count + ", eps=0.1), groups=" + other +
                    ", bias=b)");
  }
  return calls;
}

std::vector<std::string> calls_of_pool(const std::string& name, std::int64_t n) {
  // Windows that overlap, that touch, that leave gaps, and that leave a tail over.
  const std::int64_t windows[][2] = {{1, 1}, {1, 3}, {2, 2}, {2, 1}, {2, 5}, {3, 2},
                                     {3, 3}, {5, 3}, {8, 8}, {n, n}, {n, 1}, {n, 7}};
  std::vector<std::string> calls;
  for (const auto& window : windows) {
    if (window[0] > n) continue;
    const std::string kernel = std::to_string(window[0]);
    const std::string stride = std::to_string(window[1]);
    calls.push_back(name + "(y, kernel=" + kernel + ", stride=" + stride + ")");
    if (window[0] == window[1]) calls.push_back("relu(" + name + "(y + b, " + kernel + ")) * c");
    calls.push_back("sum(" + name + "(relu(y), " + kernel + ", " + stride + "), dim=1) * s");
    calls.push_back("z = " + name + "(y, " + kernel + ", " + stride +
                    "); return z, mean(z, dim=0)");
  }
  return calls;
}

/// Ways to call a composite where y has n columns: arguments by place and by keyword, operands of
/// every kind, inside other expressions.
std::vector<std::string> calls_of(Composite composite, std::int64_t n) {
  switch (composite) {
    case Composite::softmax:
      return {"softmax(y, dim=1)", "softmax(y, dim=0)", "softmax(y + b, 1) * g",
              "softmax(y * s + r, -2)"};
    case Composite::log_softmax:
      return {"log_softmax(y, dim=1)", "log_softmax(y, dim=0)", "log_softmax(y + b, -1) * c",
              "mean(log_softmax(y + r, dim=0), dim=1)"};
    case Composite::layer_norm:
      return {"layer_norm(y)",
              "layer_norm(y, g, b)",
              "layer_norm(y + b, bias=b, weight=g, eps=0.5)",
              "layer_norm(y, weight=s)",
              "layer_norm(y * c + r, bias=r)",
              "layer_norm(layer_norm(y), g, b, 1e-3)"};
    case Composite::rms_norm:
      return {"rms_norm(y)", "rms_norm(y, g)", "rms_norm(y + b, weight=g, eps=0.25)",
              "rms_norm(y, eps=0) + c"};
    case Composite::group_norm:
      return calls_of_group_norm(n);
    case Composite::instance_norm:
      return {"instance_norm(y)", "instance_norm(y + r, g, b, eps=1e-2)",
              "instance_norm(y, bias=c, weight=s)"};
    case Composite::batch_norm:
      return {"batch_norm(y)",
              "batch_norm(y, weight=g, bias=b)",
              "batch_norm(y + r, eps=0.5) * c",
              "batch_norm(y, mean=mu, var=abs(g))",
              "batch_norm(y, mu, abs(g), b, g, 1e-3)",
              "batch_norm(y, var=abs(g), bias=b, mean=mu, weight=mu)"};
    case Composite::l2_normalize:
      return {"l2_normalize(y)", "l2_normalize(y, dim=0)", "l2_normalize(y + b, 1, 0.5)",
              "l2_normalize(y * r, eps=1e6, dim=0)"};
    case Composite::max_pool:
      return calls_of_pool("max_pool", n);
    case Composite::avg_pool:
      return calls_of_pool("avg_pool", n);
    case Composite::dropout:
      return {"dropout(y)",
              "dropout(y, 0.25, seed=7)",
              "dropout(y + b, p=0.75, seed=-123456789012345)",
              "dropout(gelu(y), p=0.1, seed=3) + r",
              "dropout(y, p=0)",
              "dropout(y + 1, p=1)",
              "dropout(y, p=q * 0 + 0.5, seed=s)",
              "sum(dropout(y, 0.5, 1), dim=0) - mean(dropout(y, 0.5, 2), dim=1)"};
  }
  return {};
}

/// One element, primes, odd sizes, one long vector each way, and one that fills several blocks.
std::vector<Settings> settings_of_size(DataType dtype) {
  const std::int64_t sizes[][2] = {{1, 1}, {7, 13}, {33, 65}, {1, 271}, {271, 1}, {130, 256}};
  std::vector<Settings> list;
  for (const auto& size : sizes) {
    Settings settings;
    settings.dtype = dtype;
    settings.m = size[0];
    settings.n = size[1];
    settings.k = 5;
    list.push_back(settings);
  }
  return list;
}

void check_call(const std::string& text, const Settings& settings) {
  Random random;
  INFO(random.hint());
  INFO(text << ", " << describe(settings));
  MixedWorkload workload(settings_of(settings), text, operands());
  workload.fill_exact(random);
  workload.bind("s", static_cast<double>(random.below(1 << 30)));  // a seed is a whole number
  workload.execute();
  workload.check();
  count_case("composites");
}

/// Planning `text` for 5 x 7 fails with the caret under `place`.
void refuse(Status status, const std::string& text, const std::string& place,
            const std::string& message) {
  INFO(text);
  Settings settings;
  settings.m = 5;
  settings.n = 7;
  settings.k = 3;
  const std::string column = std::to_string(text.find(place) + 1);
  const std::string found = check_error(
      status, [&] { MixedWorkload(settings_of(settings), text, operands()); }, message,
      "(line 1, column " + column + ")");
  const std::size_t line = found.rfind('\n');
  REQUIRE(line != std::string::npos);
  // The text is shown with an indentation of two.
  CHECK(found.find('^', line) == line + 1 + 2 + text.find(place));
}

// ---- Dropout --------------------------------------------------------------------------------

Settings dropout_settings(DataType dtype, ResultLayout layout) {
  Settings settings;
  settings.dtype = dtype;
  settings.m = 211;
  settings.n = 517;
  settings.result = layout;
  return settings;
}

/// The result where y is 1 everywhere.
std::vector<double> dropout_of_ones(DataType dtype, ResultLayout layout, const std::string& text,
                                    double seed = 0) {
  MixedWorkload workload(settings_of(dropout_settings(dtype, layout)), text,
                         {{"seed", OperandKind::scalar}});
  fill(workload.x(), [] { return 1.0; });
  fill(workload.w(), [] { return 1.0; });
  workload.bind("seed", seed);
  workload.execute();
  count_case("composites");
  return elements(workload.output());
}

std::vector<bool> mask_of(const std::vector<double>& values) {
  std::vector<bool> mask;
  for (const double value : values) mask.push_back(value != 0);
  return mask;
}

}  // namespace

TEST_CASE("every composite function agrees with the reference", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::vector<Composite> composites = {
#define POSTLUDE_ITEM(name, signature, formula) Composite::name,
      POSTLUDE_COMPOSITES(POSTLUDE_ITEM)
#undef POSTLUDE_ITEM
  };
  for (const Composite composite : composites)
    for (const Settings& size : settings_of_size(dtype)) {
      const std::vector<std::string> calls = calls_of(composite, size.n);
      INFO(detail::signature_of(composite).name);
      REQUIRE_FALSE(calls.empty());
      const std::vector<Settings> layouts = layouts_of(size);
      // Every call in every layout; the largest size in one layout after the other.
      const bool is_large = size.m * size.n > 10000;
      for (std::size_t i = 0; i < calls.size(); ++i)
        for (std::size_t j = 0; j < layouts.size(); ++j)
          if (!is_large || (i + j) % layouts.size() < 2) check_call(calls[i], layouts[j]);
    }
}

TEST_CASE("composite functions inside one another agree with the reference", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const std::string text :
       {"group_norm(max_pool(y, 2), groups=3)", "max_pool(group_norm(y, groups=4), 3, 1)",
        "avg_pool(max_pool(y, 3, 1), 2) + c", "softmax(group_norm(y, groups=6), dim=1)",
        "group_norm(softmax(y, dim=1), groups=2)", "layer_norm(batch_norm(y), g, b)",
        "group_norm(group_norm(group_norm(y, groups=2), groups=3), groups=4)",
        "z = group_norm(y, groups=3); return z, max_pool(z, 4), softmax(z, dim=0), sum(z, dim=1)",
        "group_norm(y, groups=4) + group_norm(y, groups=6) * softmax(y, dim=0)",
        "logsumexp(group_norm(y, groups=4), dim=1)", "max(avg_pool(y, 5, 2), dim=1)",
        "dropout(softmax(y, dim=1), p=0.5, seed=1)", "softmax(dropout(y, p=0.5, seed=1), dim=1)",
        "l2_normalize(rms_norm(y, g), dim=0)"})
    for (const std::int64_t m : {1, 5, 40}) {
      Settings size;
      size.dtype = dtype;
      size.m = m;
      size.n = 24;
      size.k = 6;
      for (const Settings& settings : layouts_of(size)) check_call(text, settings);
    }
}

TEST_CASE("windows that overlap give what their elements give", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Settings settings;
  settings.dtype = dtype;
  settings.n = 7;
  const auto pooled = [&](const std::string& text) {
    MixedWorkload workload(settings_of(settings), text);
    fill(workload.x(), std::vector<double>{1});
    fill(workload.w(), std::vector<double>{3, 1, 4, 1, 5, 9, 2});
    workload.execute();
    return elements(workload.output());
  };
  using Values = std::vector<double>;
  CHECK(pooled("max_pool(y, 2)") == Values{3, 4, 9});  // the 2 is left over
  CHECK(pooled("max_pool(y, kernel=3, stride=1)") == Values{4, 4, 5, 9, 9});
  CHECK(pooled("max_pool(y, kernel=2, stride=3)") == Values{3, 5});
  CHECK(pooled("avg_pool(y, 2)") == Values{2, 2.5, 7});
  CHECK(pooled("avg_pool(y, kernel=4, stride=2)") == Values{2.25, 4.75});
  CHECK(pooled("max_pool(y, 7)") == Values{9});
  CHECK(pooled("max_pool(y, 1)") == Values{3, 1, 4, 1, 5, 9, 2});
}

TEST_CASE("numbers that a composite function cannot have are refused with their place",
          "[conformance][invalid_input]") {
  refuse(Status::shape_mismatch, "relu(y) + group_norm(y, groups=4)", "group_norm",
         "expected a divisor of the number of columns, 7");
  refuse(Status::shape_mismatch, "group_norm(y, 8)", "group_norm", "groups is 8");
  refuse(Status::invalid_argument, "group_norm(y, groups=0)", "0", "positive integer");
  refuse(Status::invalid_argument, "group_norm(y, groups=1.5)", "1.5", "positive integer");
  refuse(Status::invalid_argument, "group_norm(y, groups=-7)", "-7", "positive integer");
  refuse(Status::syntax_error, "group_norm(y, groups=s)", "s)", "must be a number");
  refuse(Status::shape_mismatch, "y - max_pool(y, kernel=8)", "max_pool",
         "expected at most the number of columns, 7");
  refuse(Status::shape_mismatch, "avg_pool(max_pool(y, 2), 4)", "avg_pool",
         "expected at most the number of columns, 3");
  refuse(Status::invalid_argument, "max_pool(y, kernel=0)", "0", "kernel is 0: expected");
  refuse(Status::invalid_argument, "avg_pool(y, 2, stride=0)", "0)", "stride is 0");
  refuse(Status::invalid_argument, "avg_pool(y, 2, 0.5)", "0.5", "stride is 0.5");
  refuse(Status::invalid_argument, "dropout(y, p=1.5)", "1.5", "between 0 and 1");
  refuse(Status::invalid_argument, "dropout(y, p=-0.5)", "-0.5", "between 0 and 1");
  refuse(Status::invalid_argument, "dropout(y, nan)", "nan", "between 0 and 1");
  refuse(Status::invalid_argument, "relu(y) * dropout(y, 0.5, seed=b)", "dropout",
         "seed must be a number or a scalar");
  refuse(Status::invalid_argument, "relu(y) + dropout(y, 0.5, seed=1.5)", "1.5", "whole number");
  refuse(Status::invalid_argument, "dropout(y, 0.5, seed=nan)", "nan", "whole number");
  refuse(Status::invalid_argument, "dropout(y, 0.5, seed=1e300)", "1e300", "seed is 1e+300");
  refuse(Status::invalid_argument, "layer_norm(y, eps=-1e-5)", "-1e-5", "eps is -1e-05");
  refuse(Status::invalid_argument, "l2_normalize(y, eps=-1)", "-1", "eps is -1");
  refuse(Status::invalid_argument, "rms_norm(y, eps=nan)", "nan", "eps is nan");
  refuse(Status::syntax_error, "layer_norm(y, eps=s)", "s)", "must be a number");
  refuse(Status::invalid_argument, "1 + batch_norm(y, mean=mu)", "batch_norm",
         "mean and var together");
  refuse(Status::invalid_argument, "batch_norm(y, var=mu)", "batch_norm", "mean and var together");
  refuse(Status::unknown_name, "layer_norm(y, scale=g)", "scale", "no argument 'scale'");
  refuse(Status::unknown_name, "max_pool(y, 2, padding=1)", "padding", "expected v, kernel");
  refuse(Status::syntax_error, "1 + group_norm(y)", "group_norm", "needs its argument 'groups'");
  refuse(Status::syntax_error, "softmax(y)", "softmax", "needs its argument 'dim'");
  refuse(Status::invalid_argument, "softmax(y, dim=2)", "2", "dim is 2");
  refuse(Status::syntax_error, "softmax(y, 1, dim=1)", "softmax", "given twice");
  refuse(Status::syntax_error, "dropout(y, 0.5, 1, 2)", "dropout", "at most 3 arguments");
  refuse(Status::unknown_name, "sotfmax(y, dim=1)", "sotfmax", "did you mean 'softmax'");
  refuse(Status::shape_mismatch, "layer_norm(max_pool(y, 2), weight=g)", "layer_norm", "broadcast");
}

TEST_CASE("dropout with p = 0 is the identity, bit for bit", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64, DataType::bfloat16);
  for (const std::string text : {"dropout(y, p=0, seed=3)", "dropout(y, 0)", "dropout(y, p=q)"})
    for (const Settings& settings : layouts_of(dropout_settings(dtype, ResultLayout::row_major))) {
      Random random;
      INFO(random.hint());
      INFO(text << ", " << describe(settings));
      MixedWorkload plain(settings_of(settings), "y");
      MixedWorkload dropped(settings_of(settings), text, {{"q", OperandKind::scalar}});
      plain.fill_real(random);
      set_element(plain.x(), std::nan(""), 0, 0);
      set_element(plain.x(), -HUGE_VAL, 1, 0);
      set_element(plain.x(), -0.0, 2, 0);
      fill(dropped.x(), elements(plain.x()));
      fill(dropped.w(), elements(plain.w()));
      dropped.bind("q", 0);
      plain.execute();
      dropped.execute();
      CHECK(dropped.output().bytes() == plain.output().bytes());
    }
}

TEST_CASE("dropout with p = 1 leaves zeros", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64, DataType::float16);
  for (const std::string text :
       {"dropout(y, p=1)", "dropout(y, 1, seed=9)", "dropout(y, p=seed + 1)"}) {
    INFO(text);
    const std::vector<double> values = dropout_of_ones(dtype, ResultLayout::row_major, text, 0);
    CHECK(mask_of(values) == std::vector<bool>(values.size(), false));
  }
}

TEST_CASE("dropout keeps the fraction 1 - p and scales it by 1 / (1 - p)", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Random random;
  INFO(random.hint());
  for (const double p : {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99}) {
    const auto seed = static_cast<double>(random.below(1 << 30));
    INFO("p = " << p << ", seed " << seed);
    const std::vector<double> values = dropout_of_ones(
        dtype, ResultLayout::row_major, "dropout(y, " + std::to_string(p) + ", seed)", seed);
    double kept = 0;
    std::int64_t wrong = 0;
    // p is rounded, 1 - p is, the reciprocal is; 1 - p magnifies the error of p.
    const double relative = 4 * 1.2e-7 / (1 - p);
    for (const double value : values) {
      if (value == 0) continue;
      ++kept;
      wrong += std::abs(value * (1 - p) - 1) <= relative ? 0 : 1;
    }
    CHECK(wrong == 0);
    const auto count = static_cast<double>(values.size());
    const double sigma = std::sqrt(count * p * (1 - p));
    CHECK(std::abs(kept - count * (1 - p)) <= 5 * sigma);
  }
}

TEST_CASE("a seed gives the same mask in every layout and dtype", "[conformance]") {
  for (const std::string p : {"0.5", "0.25", "0.3"}) {
    INFO("p = " << p);
    const std::string text = "dropout(y, p=" + p + ", seed=20240607)";
    const std::vector<bool> mask =
        mask_of(dropout_of_ones(DataType::float32, ResultLayout::row_major, text));
    for (const DataType dtype :
         {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16})
      for (const ResultLayout layout :
           {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any}) {
        INFO(describe(dropout_settings(dtype, layout)));
        CHECK(mask_of(dropout_of_ones(dtype, layout, text)) == mask);
        const std::string bound = "dropout(y, p=" + p + ", seed=seed)";
        CHECK(mask_of(dropout_of_ones(dtype, layout, bound, 20240607)) == mask);
      }
  }
}

TEST_CASE("a seed that is no whole number is refused when it is bound",
          "[conformance][invalid_input]") {
  for (const double seed : {0.5, std::nan(""), HUGE_VAL, 1e16}) {
    INFO("seed " << seed);
    check_error(
        Status::invalid_argument,
        [&] {
          dropout_of_ones(DataType::float32, ResultLayout::row_major, "dropout(y, 0.5, seed)",
                          seed);
        },
        "operand 'seed'", "whole number");
  }
}

TEST_CASE("another seed gives another mask", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  std::vector<std::vector<bool>> masks;
  for (const double seed : {0.0, 1.0, 2.0, -1.0, 4294967296.0, 9007199254740992.0})
    masks.push_back(
        mask_of(dropout_of_ones(dtype, ResultLayout::row_major, "dropout(y, 0.5, seed)", seed)));
  const auto count = static_cast<double>(masks[0].size());
  for (std::size_t i = 0; i < masks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      double different = 0;
      for (std::size_t k = 0; k < masks[i].size(); ++k) different += masks[i][k] != masks[j][k];
      // Independent masks differ in half of the elements.
      CHECK(std::abs(different - count / 2) <= 5 * std::sqrt(count) / 2);
    }
}

TEST_CASE("dropout uses its seed once: two calls of one seed have one mask", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::vector<double> difference = dropout_of_ones(
      dtype, ResultLayout::row_major, "dropout(y, 0.5, seed=4) - dropout(2 * y, 0.5, seed=4) / 2");
  CHECK(mask_of(difference) == std::vector<bool>(difference.size(), false));
}
