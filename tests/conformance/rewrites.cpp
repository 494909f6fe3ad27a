#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <postlude/check.hpp>
#include <postlude/error.hpp>

#include "execute/memory.hpp"
#include "execute/plan_implementation.hpp"
#include "support/backend.hpp"
#include "support/case_count.hpp"
#include "support/mixed_workload.hpp"
#include "support/random_program.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

// Executed with rewrites and without, random programs give the same.

namespace {

double special_number(Random& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static const double numbers[] = {std::numeric_limits<double>::quiet_NaN(),
                                   infinity,
                                   -infinity,
                                   0,
                                   -0.0,
                                   1e30,
                                   -3e38,
                                   1e-40,
                                   1,
                                   -2};
  if (random.below(3) != 0) return random.uniform(-2, 2);
  return numbers[random.below(static_cast<std::int64_t>(sizeof numbers / sizeof numbers[0]))];
}

double mild_number(Random& random) { return random.uniform(0.5, 2); }

using Number = double (*)(Random&);

void fill_both(TestTensor& a, TestTensor& b, Random& random, Number number) {
  std::vector<double> values = elements(a);
  for (double& value : values) value = number(random);
  fill(a, values);
  fill(b, values);
}

bool is_same(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance + tolerance * std::abs(a);
}

/// All results of two executions.
void check_same(MixedWorkload& written, MixedWorkload& rewritten, double tolerance) {
  for (std::size_t r = 0; r < written.plan().result_count(); ++r) {
    const std::vector<double> expected = elements(written.output(r));
    const std::vector<double> values = elements(rewritten.output(r));
    REQUIRE(values.size() == expected.size());
    std::size_t violations = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_same(expected[i], values[i], tolerance)) continue;
      if (violations++ == 0)
        UNSCOPED_INFO("result " << r << ", element " << i << " is " << values[i] << ", expected "
                                << expected[i]);
    }
    CHECK(violations == 0);
  }
}

struct Comparison {
  DataType dtype = DataType::float32;
  Number number = special_number;
  bool has_steps = true;
  bool has_special_constants = true;
  std::vector<std::string> without;  ///< rewrites
  double tolerance = 0;
};

MixedSettings random_settings(Random& random, DataType dtype) {
  Settings base;
  base.dtype = dtype;
  base.m = random.below(3) == 0 ? 1 : 1 + random.below(40);
  base.n = random.below(3) == 0 ? 1 : 1 + random.below(60);
  base.k = 1 + random.below(4);
  base = layouts_of(base)[static_cast<std::size_t>(random.below(5))];
  if (random.below(3) == 0) base.batch = 1 + random.below(3);
  if (size_of(dtype) == 2) base.result = ResultLayout::any;
  return settings_of(base);
}

/// Runs one program both ways. False where a stage is too large for it.
bool compare_once(const Comparison& comparison, int& changed) {
  Random random;
  INFO(random.hint());
  MixedSettings settings = random_settings(random, comparison.dtype);
  RandomProgramSettings program_settings;
  program_settings.m = settings.base.m;
  program_settings.n = settings.base.n;
  program_settings.batch = settings.is_batched ? settings.base.batch : 1;
  program_settings.operations = 16;
  program_settings.has_steps = comparison.has_steps;
  program_settings.has_special_constants = comparison.has_special_constants;
  const RandomProgram program = random_program(random, program_settings);
  MixedSettings plain = settings;
  settings.base.without_rewrites = comparison.without;
  plain.base.without_rewrites = {"all"};
  INFO(describe(settings));
  try {
    MixedWorkload written(plain, program.epilogue(), program.operands);
    MixedWorkload rewritten(settings, program.epilogue(), program.operands);
    INFO(rewritten.plan().explain());
    fill_both(rewritten.x(), written.x(), random, comparison.number);
    fill_both(rewritten.w(), written.w(), random, comparison.number);
    for (const OperandDeclaration& operand : program.operands) {
      if (operand.kind != OperandKind::scalar) {
        fill_both(rewritten.operand(operand.name), written.operand(operand.name), random,
                  comparison.number);
        continue;
      }
      const double value = operand.name == "seed" ? static_cast<double>(random.below(1000))
                                                  : comparison.number(random);
      rewritten.bind(operand.name, value);
      written.bind(operand.name, value);
    }
    written.execute();
    rewritten.execute();
    if (!rewritten.plan().implementation().plan().rewrites.empty()) ++changed;
    check_same(written, rewritten, comparison.tolerance);
    return true;
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(error.status() == Status::unsupported);
    return false;
  }
}

void compare(const Comparison& comparison, int count, const std::string& suite) {
  int refused = 0;
  int changed = 0;
  for (int i = 0; i < count; ++i) {
    if (!compare_once(comparison, changed)) ++refused;
    count_case(suite);
  }
  CHECK(refused < count / 10);
  CHECK(changed > count / 4);
}

}  // namespace

TEST_CASE("rewritten programs give the same results, NaN and infinities in the same places",
          "[conformance]") {
  Comparison comparison;
  comparison.dtype =
      GENERATE(DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16);
  // A power is a rounding error away from a square, sumexp from a sum and a sum of y from the
  // product of other sums, which a step in the program may enlarge.
  comparison.without = {"powers", "softmax_sums", "sums_of_products"};
  // Bit for bit on hosts, as GUIDE.md says; the compiler of a device may contract operations of the
  // two programs differently, so that they agree as results of a dtype do.
  const bool is_host = detail::is_reachable(backend(), MemorySpace::host);
  comparison.tolerance = is_host ? 0 : default_tolerance(comparison.dtype);
  compare(comparison, 400, "rewritten programs on special values");
}

TEST_CASE("rewritten programs of ordinary numbers agree within rounding errors", "[conformance]") {
  Comparison comparison;
  comparison.dtype = DataType::float64;
  comparison.number = mild_number;
  comparison.has_steps = false;
  comparison.has_special_constants = false;
  // A sum of y that is made of other sums differs in its last place, of which sin(exp(sum)) makes
  // anything; tests/conformance/shortcuts.cpp holds these to bounds of their own.
  comparison.without = {"sums_of_products"};
  // `powers` rounds once where pow may round twice, which long programs enlarge.
  comparison.tolerance = 1e-6;
  compare(comparison, 400, "rewritten programs on ordinary numbers");
}

TEST_CASE("softmax finds what it divides by with the maximum, and gives the same",
          "[conformance]") {
  const DataType dtype =
      GENERATE(DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16);
  for (const std::string text :
       {"softmax(y + bias, dim=1)", "log_softmax(y * 3, dim=1)",
        "v = y + bias; return sum(exp(v - max(v, dim=1)), dim=1), max(v, dim=1)",
        "softmax(dropout(y, p=0.3, seed=5), dim=1)"})
    for (int i = 0; i < 20; ++i) {
      Random random;
      INFO(random.hint());
      MixedSettings settings = random_settings(random, dtype);
      MixedSettings plain = settings;
      plain.base.without_rewrites = {"all"};
      const std::vector<OperandDeclaration> operands = {{"bias", OperandKind::row}};
      MixedWorkload merged(settings, Epilogue(text), operands);
      MixedWorkload written(plain, Epilogue(text), operands);
      INFO(merged.plan().explain());
      CHECK((settings.base.n == 1 || merged.plan().explain().find("sumexp") != std::string::npos));
      const Number number = i % 2 == 0 ? special_number : mild_number;
      fill_both(merged.x(), written.x(), random, number);
      fill_both(merged.w(), written.w(), random, number);
      fill_both(merged.operand("bias"), written.operand("bias"), random, number);
      written.execute();
      merged.execute();
      // The sum is rounded in other places.
      check_same(written, merged, default_tolerance(dtype));
    }
}

TEST_CASE("a plan says which rewrites it applied, and leaves out what it is told to",
          "[conformance]") {
  Settings settings;
  settings.m = 4;
  settings.n = 5;
  settings.k = 3;
  const auto names = [&](const std::vector<std::string>& without) {
    settings.without_rewrites = without;
    std::string list;
    const Workload workload(settings, Epilogue("relu(relu(y)) * 1 + where(1, y, 2)"));
    for (const auto& rewrite : workload.plan().implementation().plan().rewrites)
      list += rewrite.name + " ";
    return list;
  };
  CHECK(names({}) == "clamps arithmetic selection ");
  CHECK(names({"clamps", "ranges"}) == "arithmetic selection ");
  CHECK(names({"all"}).empty());
  settings.without_rewrites = {};
  const Workload workload(settings, Epilogue("relu(relu(y))"));
  const std::string text = workload.plan().explain();
  for (const char* part : {"program as written", "rewrites", "clamps: relu(relu(y)) -> relu(y)",
                           "saves 1 operation on 4x5", "program as executed"})
    CHECK(text.find(part) != std::string::npos);
  CHECK(workload.plan().explain_json().find("\"name\": \"clamps\"") != std::string::npos);
}
