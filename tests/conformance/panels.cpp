#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <postlude/error.hpp>

#include "execute/contiguous_tensor.hpp"
#include "execute/plan_implementation.hpp"
#include "gemm/host_blas.hpp"
#include "gemm/thread_items.hpp"
#include "support/backend.hpp"
#include "support/case_count.hpp"
#include "support/layer_programs.hpp"
#include "support/mixed_workload.hpp"
#include "support/programs.hpp"
#include "support/random_program.hpp"
#include "support/settings.hpp"
#include "support/small_panels.hpp"

using namespace postlude;
using namespace postlude::test;
using postlude::detail::ExecutionPlan;
using postlude::detail::PanelCut;

// Hosts compute y in panels. Most tests make them small, so that they cut small problems.

namespace {

const ExecutionPlan& plan_of(const Plan& plan) { return plan.implementation().plan(); }

bool is_on_host() { return detail::is_host(backend()); }

/// Multiples of a quarter, of which y is exact, with NaN and infinities among them.
double number(Random& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static const double special[] = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity};
  if (random.below(40) == 0) return special[random.below(3)];
  return static_cast<double>(random.below(17) - 8) / 4;
}

void fill_both(TestTensor& a, TestTensor& b, Random& random) {
  std::vector<double> values = elements(a);
  for (double& value : values) value = number(random);
  fill(a, values);
  fill(b, values);
}

MixedSettings random_settings(Random& random, DataType dtype) {
  Settings base;
  base.dtype = dtype;
  base.m = random.below(4) == 0 ? 1 : 1 + random.below(90);
  base.n = random.below(4) == 0 ? 1 : 1 + random.below(90);
  base.k = random.below(9) == 0 ? 0 : 1 + random.below(4);
  base = layouts_of(base)[static_cast<std::size_t>(random.below(5))];
  const bool is_batched = random.below(3) == 0;
  if (is_batched) base.batch = 1 + random.below(4);
  if (size_of(dtype) == 2) base.result = ResultLayout::any;
  MixedSettings settings = settings_of(base);
  settings.is_batched = is_batched;
  settings.shares_w = is_batched && random.below(2) == 0;
  return settings;
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

constexpr std::size_t without_end = std::size_t(1) << 40;

MixedWorkload whole_workload(const MixedSettings& settings, const RandomProgram& program) {
  const SmallPanels none(without_end);
  return MixedWorkload(settings, program.epilogue(), program.operands);
}

/// Runs one random program in panels and whole, and counts the kinds of panels.
void compare_once(DataType dtype, bool is_by_threads, std::map<PanelCut, int>& cuts) {
  Random random;
  INFO(random.hint());
  MixedSettings settings = random_settings(random, dtype);
  // Not every engine lets a thread compute alone.
  if (is_by_threads) settings.base.engine = "kokkos_kernels";
  RandomProgramSettings program_settings;
  program_settings.m = settings.base.m;
  program_settings.n = settings.base.n;
  program_settings.batch = settings.is_batched ? settings.base.batch : 1;
  program_settings.operations = random.below(2) == 0 ? 4 : 12;
  const RandomProgram program = random_program(random, program_settings);
  INFO(describe(settings));
  try {
    MixedWorkload whole = whole_workload(settings, program);
    const SmallPanels small(is_by_threads ? without_end : std::size_t(64) << random.below(8),
                            is_by_threads);
    MixedWorkload cut(settings, program.epilogue(), program.operands);
    INFO(cut.plan().explain());
    CHECK(plan_of(whole.plan()).panels.cut == PanelCut::none);
    ++cuts[plan_of(cut.plan()).panels.cut];
    fill_both(whole.x(), cut.x(), random);
    fill_both(whole.w(), cut.w(), random);
    for (const OperandDeclaration& operand : program.operands) {
      if (operand.kind != OperandKind::scalar) {
        fill_both(whole.operand(operand.name), cut.operand(operand.name), random);
        continue;
      }
      const double value =
          operand.name == "seed" ? static_cast<double>(random.below(1000)) : number(random);
      whole.bind(operand.name, value);
      cut.bind(operand.name, value);
    }
    whole.execute();
    cut.execute();
    for (std::size_t r = 0; r < program.results.size(); ++r) {
      const std::vector<double> expected = elements(whole.output(r));
      const std::vector<double> values = elements(cut.output(r));
      REQUIRE(values.size() == expected.size());
      std::size_t violations = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (is_same(expected[i], values[i])) continue;
        if (violations++ == 0)
          UNSCOPED_INFO("result " << r << ", element " << i << " is " << values[i] << ", expected "
                                  << expected[i]);
      }
      CHECK(violations == 0);
    }
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(error.status() == Status::unsupported);
  }
}

/// A plan for tensors that are not there.
Plan large_plan(const std::string& text, DataType dtype, std::int64_t m, std::int64_t n,
                std::int64_t k, ResultLayout layout, bool packs) {
  LinearProblem problem;
  problem.x = detail::contiguous_tensor(nullptr, dtype, {1, m, k});
  problem.w = detail::contiguous_tensor(nullptr, dtype, {1, n, k});
  for (Tensor* tensor : {&problem.x, &problem.w}) {
    tensor->memory_space = memory_space();
    if (packs)
      for (std::int64_t& stride : tensor->stride) stride *= 2;
  }
  PlanOptions options;
  options.layout = layout;
  return Plan(execution_space(), problem, text, layer_operands(), options);
}

}  // namespace

TEST_CASE("random programs give the same in panels and whole", "[conformance]") {
  if (!is_on_host()) return;
  const DataType dtype =
      GENERATE(DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16);
  std::map<PanelCut, int> cuts;
  // Few programs are cut into batches: a hundred and fifty have none now and then.
  for (int i = 0; i < 150 || (cuts[PanelCut::batch] == 0 && i < 1500); ++i) {
    compare_once(dtype, false, cuts);
    count_case("panels, random programs");
  }
  CHECK(cuts[PanelCut::rows] > 0);
  CHECK(cuts[PanelCut::columns] > 0);
  CHECK(cuts[PanelCut::batch] > 0);
}

TEST_CASE("random programs give the same when each thread has its own panels", "[conformance]") {
  if (backend() != Backend::openmp || !detail::may_call_blas_in_parallel()) return;
  if (detail::thread_count(execution_space()) < 2) return;
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  std::map<PanelCut, int> cuts;
  for (int i = 0; i < 150; ++i) {
    compare_once(dtype, true, cuts);
    count_case("panels of threads, random programs");
  }
  CHECK(cuts[PanelCut::rows] > 0);
  CHECK(cuts[PanelCut::columns] > 0);
}

TEST_CASE("programs in panels agree with the reference", "[conformance]") {
  if (!is_on_host()) return;
  const DataType dtype = GENERATE(DataType::float32, DataType::float64, DataType::bfloat16);
  const std::vector<std::string> programs = {
      "y",
      "min(y + bias, c) - c",
      "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))",
      "m = max(y + bias, dim=1); gelu(m - mean(m, dim=0))",
      "gelu(y + bias) * scale + residual * c - gain",
      "softmax(y + residual, dim=1)",
      "log_softmax(y * scale, dim=0)",
      "return argmax(y, dim=1), var(y + bias, dim=1), sum(y * residual, dim=1) * 2",
      "return argmin(y, dim=0), logsumexp(y * scale, dim=0)",
      "dropout(y + residual, p=0.5, seed=5)",
      "sum(max_pool(y, kernel=4, stride=3), dim=1)",
      "batch_norm(y * scale) + bias",
      "softmax(batch_norm(y), dim=1)"};
  Settings base;
  base.dtype = dtype;
  base.m = 130;
  base.n = 257;
  base.k = 67;
  std::vector<Settings> list = layouts_of(base);
  list.push_back(list.back());
  list.back().m = 7;
  list.back().batch = 5;
  for (const Settings& settings : list)
    for (const std::string& text : programs) {
      Random random;
      INFO(random.hint());
      MixedSettings mixed = settings_of(settings);
      mixed.is_batched = settings.batch > 0;
      const bool is_by_threads = random.below(2) == 0;
      const SmallPanels small(20000, is_by_threads);
      INFO(text << ", " << describe(mixed));
      MixedWorkload workload(mixed, text, operands_of_every_kind());
      INFO(workload.plan().explain());
      if (plan_of(workload.plan()).panels.cut != PanelCut::none) count_case("panels, cut");
      workload.fill_exact(random);
      workload.execute();
      workload.check();
      count_case("panels");
    }
}

TEST_CASE("x and w are packed in parts where they are large", "[conformance]") {
  if (!is_on_host()) return;
  // 12 MB are 6 rows of x, 20 MB 10 of w, as float32.
  Settings settings;
  settings.dtype = GENERATE(DataType::float32, DataType::bfloat16);
  settings.m = 7;
  settings.n = 11;
  settings.k = 1 << 19;
  settings.x = Layout::every_second;
  settings.w = Layout::every_second;
  settings.result = ResultLayout::any;
  if (settings.dtype == DataType::bfloat16) settings.x = settings.w = Layout::row_major;
  MixedWorkload workload(settings_of(settings), "y", {});
  CHECK(workload.plan().workspace_bytes() < (std::size_t(33) << 20));
  std::vector<double> x(static_cast<std::size_t>(settings.m * settings.k));
  std::vector<double> w(static_cast<std::size_t>(settings.n * settings.k));
  // Powers of two, so that y[m][n] is known: x of one number in each row, w likewise.
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>(1 + i / static_cast<std::size_t>(settings.k));
  for (std::size_t i = 0; i < w.size(); ++i)
    w[i] = std::ldexp(1.0, -static_cast<int>(i / static_cast<std::size_t>(settings.k)));
  fill(workload.x(), x);
  fill(workload.w(), w);
  workload.execute();
  for (std::int64_t m = 0; m < settings.m; ++m)
    for (std::int64_t n = 0; n < settings.n; ++n) {
      const double expected =
          std::ldexp(static_cast<double>((m + 1) * settings.k), -static_cast<int>(n));
      INFO(m << ", " << n);
      CHECK(std::abs(element(workload.output(), m, n) - expected) <= 4e-3 * expected);
    }
}

TEST_CASE("an execution needs at most 64 MB beside inputs and results", "[conformance]") {
  if (!is_on_host()) return;
  const DataType dtype =
      GENERATE(DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16);
  const std::int64_t sizes[][3] = {{128, 16384, 16384},
                                   {1024, 8192, 8192},
                                   {16384, 16384, 16384},
                                   {1 << 20, 256, 512},
                                   {32, 1 << 20, 64}};
  for (const auto& size : sizes)
    for (const ResultLayout layout :
         {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any})
      for (const bool packs : {false, true})
        for (const LayerProgram& program : layer_programs) {
          const Plan plan =
              large_plan(program.text, dtype, size[0], size[1], size[2], layout, packs);
          INFO(program.name << ", " << name_of(dtype) << ", " << size[0] << "x" << size[1] << "x"
                            << size[2] << ", packs " << packs);
          const std::string& reason = plan_of(plan).panels.reason;
          INFO(reason);
          // Both ways across y, one after the other: there all of y is needed.
          if (program.name != std::string("batch_norm, scale, softmax")) CHECK(reason.empty());
          if (reason.empty()) CHECK(plan.workspace_bytes() <= std::size_t(64) << 20);
          count_case("panels, workspace");
        }
}

TEST_CASE("max over dim 0 never holds all of y", "[conformance]") {
  if (!is_on_host()) return;
  const Plan plan = large_plan("m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))",
                               DataType::float32, 1024, 8192, 8192, ResultLayout::row_major, false);
  CHECK(plan.workspace_bytes() < 1024u * 8192u * sizeof(float));
  CHECK(plan_of(plan).panels.cut == PanelCut::columns);
  CHECK(plan.explain().find("panels of") != std::string::npos);
  CHECK(plan.explain_json().find("\"is_on_panels\": true") != std::string::npos);
}
