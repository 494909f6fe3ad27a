#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <postlude/check.hpp>
#include <postlude/error.hpp>
#include <postlude/plan.hpp>
#include <postlude/prepared_weights.hpp>

#include "support/backend.hpp"
#include "support/case_count.hpp"
#include "support/catch.hpp"
#include "support/mixed_workload.hpp"
#include "support/random.hpp"
#include "support/random_program.hpp"
#include "support/settings.hpp"
#include "support/test_tensor.hpp"

using namespace postlude;
using namespace postlude::test;

// Stages that the engine hopper runs on its sums, in its own kernel: beside the same plan with
// sweeps, of which every element has to be the same, and beside the reference.

namespace {

struct Case {
  DataType dtype = DataType::float32;
  std::int64_t m = 1, n = 1, k = 1;
  bool is_prepared = false;
  std::int64_t batch = 0;  ///< 0: matrices without a batch
  Layout result = Layout::row_major;
};

std::string describe(const Case& each) {
  return std::string(name_of(each.dtype)) + ", " + std::to_string(each.m) + "x" +
         std::to_string(each.n) + "x" + std::to_string(each.k) +
         (each.is_prepared ? ", prepared weights" : "") + ", batch " + std::to_string(each.batch);
}

std::vector<std::int64_t> extents(const Case& each, std::int64_t rows, std::int64_t columns) {
  if (each.batch == 0) return {rows, columns};
  return {each.batch, rows, columns};
}

/// The operands of every kind, with values.
class Inputs {
 public:
  Inputs(const Case& each, Random& random)
      : each_(each),
        x(each.dtype, extents(each, each.m, each.k)),
        w(each.dtype, extents(each, each.n, each.k)),
        row(each.dtype, {each.n}),
        column(each.dtype, {each.m, 1}),
        matrix(each.dtype, {each.m, each.n}),
        element(each.dtype, {1, 1}) {
    const double bound = 1 / std::sqrt(static_cast<double>(each.k));
    fill(x, [&] { return random.uniform(0, 1); });
    fill(w, [&] { return random.uniform(-bound, bound); });
    for (TestTensor* tensor : {&row, &column, &matrix, &element})
      fill(*tensor, [&] { return random.uniform(-0.1, 0.1); });
  }

  void upload() {
    for (TestTensor* tensor : {&x, &w, &row, &column, &matrix, &element}) tensor->upload();
  }

  static std::vector<OperandDeclaration> declarations() {
    return {{"row", OperandKind::row},
            {"column", OperandKind::column},
            {"matrix", OperandKind::matrix},
            {"element", OperandKind::element},
            {"c", OperandKind::scalar}};
  }

  std::vector<Binding> bindings(bool on_device) const {
    const auto of = [&](const TestTensor& tensor) {
      return on_device ? tensor.device() : tensor.host();
    };
    return {{"row", of(row)},
            {"column", of(column)},
            {"matrix", of(matrix)},
            {"element", of(element)},
            {"c", 0.05}};
  }

 private:
  Case each_;

 public:
  TestTensor x, w, row, column, matrix, element;
};

/// A result as a program makes it: its dtype and extents.
struct Result {
  bool is_index = false;
  std::int64_t rows = 0, columns = 0;
};

PlanOptions options_of(StageCompilation compilation, ResultLayout layout) {
  PlanOptions options;
  options.engine = "hopper";
  options.layout = layout;
  options.compilation = compilation;
  return options;
}

std::vector<TestTensor> execute(const Plan& plan, const Case& each, const Inputs& inputs,
                                const std::vector<Result>& results) {
  std::vector<TestTensor> outputs;
  std::vector<Tensor> tensors;
  for (const Result& result : results) {
    const bool is_matrix = result.rows == each.m && result.columns == each.n;
    outputs.emplace_back(result.is_index ? DataType::int64 : each.dtype,
                         extents(each, result.rows, result.columns),
                         is_matrix ? each.result : Layout::row_major);
    outputs.back().upload();
  }
  for (const TestTensor& output : outputs) tensors.push_back(output.device());
  Arguments arguments{inputs.x.device(), inputs.w.device(), inputs.bindings(true), tensors};
  if (each.is_prepared) {
    const PreparedWeights weights(plan, inputs.w.device());
    arguments.prepared_weights = &weights;
    plan.execute(arguments);
    fence();
  } else {
    plan.execute(arguments);
    fence();
  }
  for (TestTensor& output : outputs) output.download();
  return outputs;
}

bool is_same(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= tolerance * (std::abs(a) + std::abs(b));
}

/// Whether two plans on the engine, one of which leaves its stages to sweeps, give the same. Sums
/// are taken in another order, which shows in their last place.
void check_same(const Case& each, const Inputs& inputs, const std::string& text,
                const std::vector<Result>& results, double tolerance,
                const std::string& expected = "takes in stage", bool keeps_y = false) {
  INFO(describe(each) << ": " << text);
  const LinearProblem problem{inputs.x.device(), inputs.w.device(), ComputeMode::automatic};
  LinearProblem own = problem;
  if (each.dtype == DataType::float32) own.compute = ComputeMode::f32;
  // In float32 a matrix that is computed from y is where y is, else y is in the workspace.
  const ResultLayout layout = ResultLayout::row_major;
  const Plan fused(execution_space(), own, text, Inputs::declarations(),
                   options_of(StageCompilation::always, layout));
  const Plan swept(execution_space(), own, text, Inputs::declarations(),
                   options_of(StageCompilation::never, layout));
  const std::string explanation = fused.explain();
  INFO(explanation);
  CHECK(explanation.find(expected) != std::string::npos);
  CHECK((explanation.find("which writes y as well") != std::string::npos) == keeps_y);
  CHECK(swept.explain().find("takes in stage") == std::string::npos);
  const std::vector<TestTensor> got = execute(fused, each, inputs, results);
  const std::vector<TestTensor> wanted = execute(swept, each, inputs, results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::vector<double> a = elements(got[i]);
    const std::vector<double> b = elements(wanted[i]);
    REQUIRE(a.size() == b.size());
    std::size_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t j = a.size(); j-- > 0;)
      if (!is_same(a[j], b[j], tolerance)) {
        ++wrong;
        first = j;
      }
    INFO("result " << i << ", first wrong element " << first << ": " << a[first] << ", by a sweep "
                   << b[first]);
    CHECK(wrong == 0);
    CHECK(got[i].is_poison_around());
  }
}

/// Why the engine refuses an ordinary problem here, or its stages, "" when it does not.
std::string refusal() {
  const TestTensor x(DataType::float32, {32, 64});
  const TestTensor w(DataType::float32, {32, 64});
  try {
    const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::f32}, "y + 1", {},
                    options_of(StageCompilation::always, ResultLayout::row_major));
    const std::string text = plan.explain();
    return text.find("takes in stage") == std::string::npos ? text : "";
  } catch (const Error& error) {
    return error.what();
  }
}

bool is_skipped() {
  const std::string reason = refusal();
  if (reason.empty()) return false;
  WARN("left out: " << reason);
  return true;
}

constexpr double exactly = 0;
/// Of sums in float64 that are rounded to float32 once.
constexpr double last_place = 0x1p-22;

}  // namespace

TEST_CASE("hopper runs pointwise stages on its sums", "[conformance]") {
  if (is_skipped()) return;
  Random random;
  INFO(random.hint());
  // Tiles of every width, cut at both edges, and lines at odd distances.
  std::vector<Case> cases = {{DataType::float32, 130, 261, 200},
                             {DataType::float32, 130, 261, 200, true},
                             {DataType::float32, 257, 129, 68, true, 0, Layout::padded_rows},
                             {DataType::float32, 13, 300, 36, true},
                             {DataType::float32, 29, 128, 40},
                             {DataType::float32, 50, 127, 44},
                             {DataType::float32, 1, 33, 132},
                             {DataType::float16, 600, 264, 72},
                             {DataType::bfloat16, 100, 131, 200},
                             // As it streams.
                             {DataType::float32, 100, 8193, 448}};
  for (const Case& each : cases) {
    Inputs inputs(each, random);
    inputs.upload();
    const Result matrix{false, each.m, each.n};
    check_same(each, inputs, "min(y + row, c) - c", {matrix}, exactly);
  }
  const Case& each = cases[0];
  Inputs inputs(each, random);
  inputs.upload();
  const Result matrix{false, each.m, each.n};
  check_same(each, inputs, "where(y > row, silu(y - column), matrix * y) * element + c", {matrix},
             exactly);
  check_same(each, inputs, "z = gelu(y) + matrix; return z, z * row", {matrix, matrix}, exactly);
  check_same(each, inputs, "dropout(y + row, p=0.5, seed=5)", {matrix}, exactly);
  check_same(each, inputs, "return y, relu(y)", {matrix, matrix}, exactly, "takes in stage", true);
  // A stage before it, which does not read y.
  check_same(each, inputs, "y - max(matrix, dim=1)", {matrix}, exactly, "takes in stage 2");
}

TEST_CASE("hopper reduces its sums over rows", "[conformance]") {
  if (is_skipped()) return;
  Random random;
  INFO(random.hint());
  const Case few{DataType::float32, 13, 261, 36, true};
  {
    Inputs inputs(few, random);
    inputs.upload();
    for (const std::string reduction :
         {"max", "min", "any", "all", "sum", "mean", "prod", "logsumexp", "norm", "var", "std"})
      check_same(few, inputs, reduction + "(y * 2 + row, dim=0)", {{false, 1, few.n}}, last_place);
    for (const std::string reduction : {"argmax", "argmin"})
      check_same(few, inputs, reduction + "(y + row, dim=0)", {{true, 1, few.n}}, exactly);
  }
  for (const Case& each :
       {Case{DataType::float32, 1000, 261, 200, true}, Case{DataType::float32, 130, 8193, 448},
        Case{DataType::bfloat16, 600, 136, 72}}) {
    Inputs inputs(each, random);
    inputs.upload();
    const double tolerance = each.dtype == DataType::bfloat16 ? 0x1p-8 : last_place;
    check_same(each, inputs, "max(y + row, dim=0)", {{false, 1, each.n}}, exactly);
    check_same(each, inputs, "z = y * column; return z, var(z, dim=0)",
               {{false, each.m, each.n}, {false, 1, each.n}}, tolerance);
    check_same(each, inputs, "m = max(y + row, dim=0); gelu(m - mean(m, dim=1))",
               {{false, 1, each.n}}, 0x1p-7);
    check_same(each, inputs, "y - max(y, dim=0)", {{false, each.m, each.n}}, exactly,
               "takes in stage", true);
  }
}

TEST_CASE("hopper reduces its sums along rows", "[conformance]") {
  if (is_skipped()) return;
  Random random;
  INFO(random.hint());
  for (const Case& each :
       {Case{DataType::float32, 13, 300, 36}, Case{DataType::float32, 130, 261, 200, true},
        Case{DataType::float32, 100, 8193, 448}, Case{DataType::float16, 600, 264, 72}}) {
    Inputs inputs(each, random);
    inputs.upload();
    const double tolerance = each.dtype == DataType::float16 ? 0x1p-10 : last_place;
    const Result column{false, each.m, 1};
    check_same(each, inputs,
               "z = y + matrix; return max(z, dim=1), argmin(z, dim=1), var(z, dim=1), "
               "logsumexp(z, dim=1)",
               {column, {true, each.m, 1}, column, column}, tolerance);
    if (each.dtype != DataType::float32) continue;
    check_same(each, inputs, "softmax(y, dim=1)", {{false, each.m, each.n}}, 0x1p-18,
               "takes in stage", true);
  }
}

TEST_CASE("hopper runs stages on batches of products", "[conformance]") {
  if (is_skipped()) return;
  Random random;
  INFO(random.hint());
  const Case each{DataType::float32, 40, 133, 68, false, 3};
  Inputs inputs(each, random);
  inputs.upload();
  check_same(each, inputs, "relu(y + row) * column", {{false, each.m, each.n}}, exactly);
  check_same(each, inputs, "max(y + matrix, dim=0)", {{false, 1, each.n}}, exactly);
  check_same(each, inputs, "sum(y + matrix, dim=1)", {{false, each.m, 1}}, last_place);
}

TEST_CASE("hopper settles marked rows before a stage sees them", "[conformance]") {
  if (is_skipped()) return;
  Random random;
  INFO(random.hint());
  const double infinity = std::numeric_limits<double>::infinity();
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  for (const Case& each :
       {Case{DataType::float32, 140, 261, 200, true}, Case{DataType::float32, 140, 261, 200},
        Case{DataType::float32, 14, 261, 36, true},
        // As it streams, also with a row of one step for each tile.
        Case{DataType::float32, 100, 8193, 448}, Case{DataType::float16, 140, 264, 72}}) {
    Inputs inputs(each, random);
    set_element(inputs.x, infinity, 3, 7);
    set_element(inputs.x, not_a_number, 5, each.k - 1);
    set_element(inputs.w, -infinity, 9, 1);
    set_element(inputs.w, not_a_number, 200, 2);
    set_element(inputs.w, infinity, 260, 3);
    if (each.dtype == DataType::float32) {
      for (std::int64_t k = 0; k < each.k; ++k) {
        set_element(inputs.x, 1e38, 7, k);
        set_element(inputs.x, k == 0 ? 1 : 1e-20, 8, k);
        set_element(inputs.w, k == 0 ? 1e30 : random.uniform(-1, 1), 11, k);
        set_element(inputs.w, k % 2 == 0 ? 1e38 : 3e38, 130, k);
      }
      for (std::int64_t n = 0; n < each.n; n += 2)
        if (n != 130 && n != 200 && n != 260) set_element(inputs.w, 0, n, 0);
    }
    inputs.upload();
    const Result matrix{false, each.m, each.n};
    check_same(each, inputs, "y + row", {matrix}, exactly);
    check_same(each, inputs, "min(y * column, dim=0)", {{false, 1, each.n}}, exactly);
    check_same(each, inputs, "max(y * row, dim=1)", {{false, each.m, 1}}, exactly);
    check_same(each, inputs, "max_pool(y * row, kernel=4)", {{false, each.m, each.n / 4}}, exactly);
  }
}

TEST_CASE("hopper reduces windows of its sums", "[conformance]") {
  if (is_skipped()) return;
  Random random;
  INFO(random.hint());
  struct Pools {
    Case each;
    std::vector<std::int64_t> sizes;
  };
  // Parts of tiles, a tile and several, in tiles of every width; with columns in no window.
  for (const auto& [each, sizes] : {Pools{{DataType::float32, 13, 1025, 36}, {2, 16, 256}},
                                    Pools{{DataType::float32, 130, 1027, 200, true}, {4, 64}},
                                    Pools{{DataType::float32, 100, 8193, 448}, {8, 128}},
                                    Pools{{DataType::float32, 50, 1030, 68, true, 2}, {32, 384}},
                                    Pools{{DataType::float16, 600, 1032, 72}, {2, 512}}}) {
    Inputs inputs(each, random);
    inputs.upload();
    const double tolerance = each.dtype == DataType::float16 ? 0x1p-10 : last_place;
    for (const std::int64_t size : sizes) {
      const Result windows{false, each.m, each.n / size};
      const std::string kernel = ", kernel=" + std::to_string(size) + ")";
      check_same(each, inputs,
                 "z = y * column + row; return max_pool(z" + kernel + ", avg_pool(z" + kernel,
                 {windows, windows}, tolerance);
    }
  }
}

/// Whether a plan of the engine, which says `expected`, gives what the reference does.
void check_reference(const Case& each, const Inputs& inputs, const std::string& text,
                     const std::vector<Result>& results, const std::string& expected) {
  INFO(describe(each) << ": " << text);
  LinearProblem problem{inputs.x.device(), inputs.w.device(), ComputeMode::automatic};
  if (each.dtype == DataType::float32) problem.compute = ComputeMode::f32;
  const Plan plan(execution_space(), problem, text, Inputs::declarations(),
                  options_of(StageCompilation::always, ResultLayout::row_major));
  const std::string explanation = plan.explain();
  INFO(explanation);
  CHECK(explanation.find(expected) != std::string::npos);
  const std::vector<TestTensor> outputs = execute(plan, each, inputs, results);
  std::vector<Tensor> tensors;
  for (const TestTensor& output : outputs) {
    tensors.push_back(output.host());
    CHECK(output.is_poison_around());
  }
  const auto reports = compare_with_reference(
      plan, {inputs.x.host(), inputs.w.host(), inputs.bindings(false), tensors});
  for (const auto& report : reports) CHECK(report.violations == 0);
}

TEST_CASE("hopper finishes groups that fit its tiles", "[conformance]") {
  if (is_skipped()) return;
  Random random;
  INFO(random.hint());
  struct Groups {
    Case each;
    std::vector<std::int64_t> sizes;
  };
  const auto normalised = [](const Case& each, std::int64_t size) {
    return "group_norm(silu(y + row), groups=" + std::to_string(each.n / size) +
           ", weight=row, bias=row)";
  };
  for (const auto& [each, sizes] : {Groups{{DataType::float32, 13, 1024, 36}, {2, 64}},
                                    Groups{{DataType::float32, 130, 1024, 200, true}, {128}},
                                    Groups{{DataType::float32, 100, 8192, 448}, {8}},
                                    Groups{{DataType::float32, 50, 1024, 68, true, 2}, {16}},
                                    Groups{{DataType::float32, 1, 1024, 68, true, 3}, {16}},
                                    Groups{{DataType::bfloat16, 600, 1024, 72}, {4, 32}}}) {
    Inputs inputs(each, random);
    inputs.upload();
    for (const std::int64_t size : sizes)
      check_reference(each, inputs, normalised(each, size), {{false, each.m, each.n}},
                      "takes in stages 1 to 2: all of them, tile by tile");
  }
  const Case each{DataType::float32, 130, 1024, 200, true};
  Inputs inputs(each, random);
  inputs.upload();
  const Result matrix{false, each.m, each.n};
  check_reference(each, inputs, "z = " + normalised(each, 32) + "; return z, max(z, dim=1)",
                  {matrix, {false, each.m, 1}}, "takes in stages 1 to 2");
  check_reference(each, inputs, "max(" + normalised(each, 16) + ", dim=0)", {{false, 1, each.n}},
                  "takes in stages 1 to 2");
  check_reference(each, inputs,
                  "group_norm(gelu(group_norm(y + row, groups=32)), groups=32) * column", {matrix},
                  "takes in stages 1 to ");
  // Of groups of several tiles the statistics alone.
  check_reference(each, inputs, normalised(each, 512), {matrix}, "takes in stage 1: ");
}

TEST_CASE("hopper finishes lines that fit its tiles", "[conformance]") {
  if (is_skipped()) return;
  Random random;
  INFO(random.hint());
  for (const Case& each :
       {Case{DataType::float32, 300, 100, 200, true}, Case{DataType::float32, 70, 33, 68, false, 2},
        Case{DataType::float16, 600, 128, 72}}) {
    Inputs inputs(each, random);
    inputs.upload();
    const Result matrix{false, each.m, each.n};
    check_reference(each, inputs, "softmax(y + row, dim=1)", {matrix}, "takes in stages 1 to 2");
    check_reference(each, inputs, "softmax(layer_norm(y + row), dim=1) * element", {matrix},
                    "takes in stages 1 to ");
  }
}

TEST_CASE("stages on hopper's sums agree with the reference", "[conformance]") {
  if (is_skipped()) return;
  Random random;
  INFO(random.hint());
  for (const bool is_prepared : {false, true}) {
    const Case each{DataType::float32, 1030, 2053, 196, is_prepared};
    Inputs inputs(each, random);
    inputs.upload();
    check_reference(
        each, inputs, "z = gelu(y + row) * column; return z, max(z, dim=1), sum(matrix * z, dim=0)",
        {{false, each.m, each.n}, {false, each.m, 1}, {false, 1, each.n}}, "takes in stage");
  }
}

/// Inputs of both from the same generator.
void fill_equally(MixedWorkload& a, MixedWorkload& b, Random& random) {
  Random same = random;
  for (MixedWorkload* const workload : {&a, &b}) {
    workload->fill_real(workload == &a ? random : same);
    workload->bind("seed", 7);
    workload->execute();
  }
}

TEST_CASE("random programs are the same on hopper's sums and in sweeps", "[conformance]") {
  if (is_skipped()) return;
  constexpr std::int64_t rows[] = {1, 13, 70, 200};
  constexpr std::int64_t columns[] = {2, 33, 64, 100, 128, 256, 384, 1000};
  const auto one_of = [](Random& random, const auto& list) {
    return list[random.below(static_cast<std::int64_t>(std::size(list)))];
  };
  int taken = 0;
  // Most programs need nothing of y, or something else of it first.
  for (int i = 0; i < 16 || (taken == 0 && i < 160); ++i) {
    Random random;
    INFO(random.hint());
    Settings base;
    base.m = one_of(random, rows);
    base.n = one_of(random, columns);
    base.k = 64;
    base.engine = "hopper";
    base.compilation = StageCompilation::never;
    RandomProgramSettings program_settings;
    program_settings.m = base.m;
    program_settings.n = base.n;
    program_settings.has_steps = false;
    program_settings.has_special_constants = false;
    const RandomProgram program = random_program(random, program_settings);
    try {
      MixedWorkload swept(settings_of(base), program.epilogue(), program.operands);
      base.compilation = StageCompilation::always;
      MixedWorkload fused(settings_of(base), program.epilogue(), program.operands);
      const std::string explanation = fused.plan().explain();
      INFO(explanation);
      fill_equally(swept, fused, random);
      for (std::size_t r = 0; r < fused.plan().result_count(); ++r) {
        const std::vector<double> a = elements(fused.output(r));
        const std::vector<double> b = elements(swept.output(r));
        REQUIRE(a.size() == b.size());
        // What a program makes of the last place of a sum is not bounded.
        std::size_t wrong = 0;
        for (std::size_t j = 0; j < a.size(); ++j) wrong += is_same(a[j], b[j], 1e-3) ? 0 : 1;
        INFO("result " << r);
        CHECK(wrong <= a.size() / 100);
      }
      const bool takes_some = explanation.find("takes in stage") != std::string::npos;
      taken += takes_some ? 1 : 0;
      const bool takes_several = explanation.find("takes in stages") != std::string::npos;
      count_case(takes_several ? "random programs of which hopper takes in several stages"
                 : takes_some  ? "random programs of which hopper takes in a stage"
                               : "random programs of which hopper takes in nothing");
    } catch (const Error& error) {
      // A stage may be too large for any way.
      CHECK(error.status() == Status::unsupported);
    }
  }
  CHECK(taken > 0);
}

TEST_CASE("hopper leaves stages to sweeps with a reason", "[conformance]") {
  if (is_skipped()) return;
  const auto explain = [](const std::string& text, ResultLayout layout,
                          StageCompilation compilation, std::int64_t k) {
    const TestTensor x(DataType::float32, {40, k});
    const TestTensor w(DataType::float32, {72, k});
    const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::f32}, text, {},
                    options_of(compilation, layout));
    return plan.explain();
  };
  const auto rows = ResultLayout::row_major;
  const auto always = StageCompilation::always;
  const auto has = [](const std::string& text, const std::string& words) {
    INFO(text);
    CHECK(text.find("leaves the stages to sweeps: " + words) != std::string::npos);
    CHECK(text.find("takes in") == std::string::npos);
  };
  has(explain("relu(y)", ResultLayout::column_major, always, 64), "y is not row-major");
  has(explain("relu(y)", rows, StageCompilation::never, 64), "the plan compiles no stage");
  has(explain("relu(y)", rows, StageCompilation::automatic, 64), "the plan compiles no stage");
  has(explain("relu(y)", rows, always, 8192), "k is cut into slices");
  has(explain("max_pool(y, kernel=4, stride=3)", rows, always, 64),
      "the stage visits y by windows that are not side by side");
  // A w too large to be worth splitting in memory; a plan does not look at it.
  TestTensor x(DataType::float32, {40, 2112});
  Tensor w = x.device();
  w.extent[0] = 17024;
  const Plan plan(execution_space(), {x.device(), w, ComputeMode::f32}, "relu(y)", {},
                  options_of(always, rows));
  has(plan.explain(), "w is split as it streams, in narrow tiles");
}

TEST_CASE("operands of unexpected dtypes leave a stage on hopper's sums to a sweep",
          "[conformance]") {
  if (is_skipped()) return;
  Random random;
  INFO(random.hint());
  const Case each{DataType::float32, 70, 133, 68};
  Inputs inputs(each, random);
  inputs.upload();
  TestTensor row(DataType::float64, {each.n});
  row.fill(elements(inputs.row));
  row.upload();
  const Plan plan(execution_space(), {inputs.x.device(), inputs.w.device(), ComputeMode::f32},
                  "max(y + row, dim=0)", {{"row", OperandKind::row}},
                  options_of(StageCompilation::always, ResultLayout::row_major));
  TestTensor first(DataType::float32, {1, each.n});
  TestTensor second(DataType::float32, {1, each.n});
  for (TestTensor* out : {&first, &second}) {
    out->upload();
    plan.execute(Arguments{inputs.x.device(),
                           inputs.w.device(),
                           {{"row", out == &first ? inputs.row.device() : row.device()}},
                           {out->device()}});
    fence();
    out->download();
  }
  CHECK(elements(first) == elements(second));
}
