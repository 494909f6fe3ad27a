#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <postlude/execution_space.hpp>
#include <postlude/prepared_weights.hpp>

#include "execute/guarded_plan.hpp"
#include "execute/memory.hpp"
#include "execute/plan_implementation.hpp"
#include "execute/prepared_weights_implementation.hpp"
#include "support/backend.hpp"
#include "support/case_count.hpp"
#include "support/catch.hpp"
#include "support/mixed_workload.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

// Plans with a way without the GEMM, which every execution proves anew: on hosts before anything
// else runs, on CUDA on the device, for the engine hopper.

namespace {

struct ShortcutProgram {
  const char* text;
};

const ShortcutProgram shortcut_programs[] = {
    {"m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))"},
    {"v = min(y, dim=1); where(mean(v, dim=1) - v, scale, gain)"},
    {"z = amax(y * c, dim=1); layer_norm(z, weight=gain, bias=scale)"},
    {"sum(y, dim=1)"},
    {"mean((y + bias) * scale - residual, dim=1)"},
    {"sum(y / 3 + c, dim=0)"},
    {"return sum(y, dim=1) * 0.5, mean(-y, dim=0) + bias"},
    {"gelu(logsumexp(mean(y - bias, dim=1), dim=1))"}};

/// Where a shortcut and the full path are compared: one input each, somewhere, is this number.
struct Spoiler {
  const char* what;
  double number;
};
const Spoiler spoilers[] = {{"nothing", 0.5},
                            {"NaN", std::numeric_limits<double>::quiet_NaN()},
                            {"infinity", std::numeric_limits<double>::infinity()},
                            {"-infinity", -std::numeric_limits<double>::infinity()},
                            {"huge", 3e38},
                            {"large", 1e15}};

std::vector<OperandDeclaration> shortcut_operands(bool is_batched) {
  return {{"bias", OperandKind::row, is_batched},
          {"scale", OperandKind::column},
          {"residual", OperandKind::matrix, is_batched},
          {"c", OperandKind::scalar},
          {"gain", OperandKind::element}};
}

bool is_host() { return detail::is_reachable(backend(), MemorySpace::host); }

/// The engine whose plans have shortcuts here, "" for any; false where none has.
bool find_engine(std::string& engine) {
  if (is_host()) return true;
  const TestTensor x(DataType::float32, {64, 64});
  const Plan plan(execution_space(), {x.device(), x.device(), ComputeMode::automatic}, "y");
  for (const detail::EngineCandidate& each : plan.implementation().plan().engines)
    if (each.name == "hopper" && each.accepts) {
      engine = each.name;
      return true;
    }
  WARN("no engine of this device has shortcuts");
  return false;
}

MixedSettings random_settings(Random& random, DataType dtype, bool is_batched,
                              const std::string& engine) {
  Settings base;
  base.dtype = dtype;
  base.engine = engine;
  if (is_host()) {
    base.m = 5 + random.below(60);
    base.n = 2 + random.below(90);
    base.k = 1 + random.below(40);
  } else {
    // As many rows as make a pass over w worth it, and products as hopper wants them.
    base.m = 64 + random.below(30);
    base.n = 2 + random.below(120);
    base.k = 16 + random.below(200);
    if (random.below(10) == 0) base.k = 1024 * (1 + random.below(3)) + random.below(100);
    if (random.below(10) == 0) base.m = 800 + random.below(100);
  }
  const bool copies_rows = !is_host() && size_of(dtype) == 2;
  if (copies_rows) base.k = base.k / 8 * 8 + 8;
  base = layouts_of(base)[static_cast<std::size_t>(copies_rows ? 0 : random.below(5))];
  if (is_batched) base.batch = 1 + random.below(3);
  if (size_of(dtype) == 2) base.result = ResultLayout::any;
  MixedSettings settings = settings_of(base);
  settings.shares_w = is_batched && random.below(2) == 0;
  settings.output_dtype = size_of(dtype) == 2 ? DataType::float32 : dtype;
  return settings;
}

void fill_both(TestTensor& a, TestTensor& b, Random& random, double low, double high) {
  std::vector<double> values = elements(a);
  for (double& value : values) value = random.uniform(low, high);
  fill(a, values);
  fill(b, values);
}

void spoil(TestTensor& tensor, double number, Random& random) {
  std::vector<double> values = elements(tensor);
  values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(values.size())))] = number;
  fill(tensor, values);
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Whether the execution needs no GEMM.
bool takes_shortcut(const MixedWorkload& workload, const PreparedWeights* weights) {
  const detail::PlanImplementation& plan = workload.plan().implementation();
  if (plan.guarded() == nullptr) return false;
  Arguments arguments = workload.device_arguments();
  arguments.prepared_weights = weights;
  const DeviceBuffer workspace(plan.plan().workspace_bytes + 1);
  const detail::GuardOutcome outcome = plan.guarded()->run(
      execution_space(), arguments, plan.validate(backend(), arguments, nullptr, 0),
      weights == nullptr ? nullptr : weights->implementation().facts(), workspace.data());
  if (outcome.decision == nullptr) return outcome.is_done;
  fence();
  int word = -1;
  const auto offset = reinterpret_cast<const char*>(outcome.decision) - workspace.data();
  workspace.copy_to_host(&word, static_cast<std::size_t>(offset), sizeof word);
  CHECK((word == 0 || word == 1));
  return word == 1;
}

/// Executes with prepared weights; the inputs are on the device already.
void execute_prepared(MixedWorkload& workload, const PreparedWeights& weights) {
  for (std::size_t r = 0; r < workload.plan().result_count(); ++r) {
    fill(workload.output(r), [] { return -12345.0; });
    workload.output(r).upload();
  }
  Arguments arguments = workload.device_arguments();
  arguments.prepared_weights = &weights;
  workload.plan().execute(execution_space(), arguments);
  fence();
  for (std::size_t r = 0; r < workload.plan().result_count(); ++r) workload.output(r).download();
}

void check_agreement(MixedWorkload& full, MixedWorkload& shortcut, double unit, double extra) {
  for (std::size_t r = 0; r < full.plan().result_count(); ++r) {
    const std::vector<double> expected = elements(full.output(r));
    const std::vector<double> values = elements(shortcut.output(r));
    std::size_t violations = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double allowed = unit * (1 + std::abs(expected[i])) + extra;
      if (is_same(expected[i], values[i]) || std::abs(expected[i] - values[i]) <= allowed) continue;
      if (violations++ == 0)
        UNSCOPED_INFO("result " << r << ", element " << i << " is " << values[i] << ", expected "
                                << expected[i]);
    }
    CHECK(violations == 0);
  }
}

}  // namespace

TEST_CASE("a shortcut is taken where it is proved, and gives what the full path gives",
          "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64, DataType::bfloat16);
  std::string engine;
  if (!find_engine(engine)) return;
  if (!is_host() && dtype == DataType::float64) return;  // hopper takes none
  int taken = 0;
  int not_taken = 0;
  for (const ShortcutProgram& program : shortcut_programs)
    for (const Spoiler& spoiler : spoilers)
      for (int place = 0; place < 3; ++place)
        for (const bool is_batched : {false, true}) {
          Random random;
          INFO(random.hint());
          if (!is_host() && random.below(3) != 0) continue;  // a device's cases are larger
          const MixedSettings settings = random_settings(random, dtype, is_batched, engine);
          MixedSettings plain = settings;
          plain.base.without_rewrites = {"all"};
          INFO(program.text << ", " << spoiler.what << " in tensor " << place << ", "
                            << describe(settings));
          MixedWorkload shortcut(settings, program.text, shortcut_operands(is_batched));
          MixedWorkload full(plain, program.text, shortcut_operands(is_batched));
          REQUIRE(full.plan().implementation().guarded() == nullptr);
          REQUIRE(shortcut.plan().implementation().guarded() != nullptr);
          fill_both(shortcut.x(), full.x(), random, -1, 1);
          fill_both(shortcut.w(), full.w(), random, -1, 1);
          for (const char* name : {"bias", "scale", "residual", "gain"})
            fill_both(shortcut.operand(name), full.operand(name), random, 0.5, 2);
          shortcut.bind("c", 0.75);
          full.bind("c", 0.75);
          TestTensor& spoilt = place == 0   ? shortcut.x()
                               : place == 1 ? shortcut.w()
                                            : shortcut.operand("bias");
          spoil(spoilt, spoiler.number, random);
          TestTensor& same = place == 0 ? full.x() : place == 1 ? full.w() : full.operand("bias");
          fill(same, elements(spoilt));
          full.execute();
          shortcut.execute();
          const bool is_taken = takes_shortcut(shortcut, nullptr);
          ++(is_taken ? taken : not_taken);
          if (spoiler.number == 0.5) CHECK(is_taken);
          if (std::isnan(spoiler.number) && place < 2) CHECK_FALSE(is_taken);
          // Sums of hundreds of elements, of which the GEMM rounds each.
          const double size = static_cast<double>(std::max(settings.base.m, settings.base.n));
          const double unit = dtype == DataType::float64 ? 1e-12 : is_host() ? 2e-5 : 2e-7 * size;
          // Beside a large number, which up to a hundred terms may have as a factor, the others are
          // rounded to its last place.
          const double largest = std::isfinite(spoiler.number) ? spoiler.number : 1;
          const double precision = dtype == DataType::float64 ? 1e-12 : 2e-5;
          const double extra = is_taken ? 100 * precision * largest : 0;
          check_agreement(full, shortcut, unit, extra);
          count_case(is_taken ? "executions with a shortcut" : "executions without their shortcut");

          const PreparedWeights weights(shortcut.plan(), shortcut.w().device());
          execute_prepared(shortcut, weights);
          CHECK(takes_shortcut(shortcut, &weights) == is_taken);
          check_agreement(full, shortcut, unit, extra);
          count_case("executions with a shortcut's prepared weights");
        }
  CHECK(taken > (is_host() ? 50 : 10));
  CHECK(not_taken > (is_host() ? 50 : 10));
}

TEST_CASE("prepared weights keep what a shortcut asks of w", "[conformance]") {
  std::string engine;
  if (!find_engine(engine)) return;
  Random random;
  INFO(random.hint());
  Settings base;
  base.m = 33;
  base.n = 65;
  base.k = 117;
  base.engine = engine;
  MixedWorkload workload(settings_of(base), "sum(y + bias, dim=1)", {{"bias", OperandKind::row}});
  workload.fill_real(random);
  workload.execute();
  const std::vector<double> expected = elements(workload.output());
  PreparedWeights weights(workload.plan(), workload.w().device());
  CHECK(weights.bytes() >= 117 * sizeof(double));
  execute_prepared(workload, weights);
  // On a device so few rows are not worth a pass over w, which they take here.
  CHECK(takes_shortcut(workload, nullptr) == is_host());
  CHECK(takes_shortcut(workload, &weights));
  // On a host both are the same additions; on a device the first one was of y, rounded to float32,
  // the largest of which counts: a sum may cancel.
  const std::vector<double> prepared = elements(workload.output());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(std::abs(prepared[i] - expected[i]) <= (is_host() ? 0 : 1e-5 * largest));
  // Other weights, prepared anew: what was kept of the old ones must not be used.
  TestTensor other = workload.w();
  fill(other, std::vector<double>(65 * 117, std::numeric_limits<double>::quiet_NaN()));
  other.upload();
  weights.refresh(execution_space(), other.device());
  Arguments arguments = workload.device_arguments();
  arguments.prepared_weights = &weights;
  arguments.w = other.device();
  workload.plan().execute(execution_space(), arguments);
  fence();
  workload.output().download();
  for (const double value : elements(workload.output())) CHECK(std::isnan(value));
}

TEST_CASE("weights without w keep to what was kept of it", "[conformance]") {
  std::string engine;
  if (!find_engine(engine) || is_host()) return;
  Random random;
  INFO(random.hint());
  Settings base;
  base.m = 70;
  base.n = 65;
  base.k = 117;
  base.engine = engine;
  // The sums over dim 0 need w itself, and a plan without a shortcut has prepared no sums.
  for (const char* text : {"sum(y, dim=1)", "sum(y, dim=0)"})
    for (const bool has_facts : {true, false}) {
      INFO(text << (has_facts ? "" : ", weights of another plan"));
      MixedWorkload workload(settings_of(base), text);
      MixedWorkload other(settings_of(base), "relu(y)");
      workload.fill_real(random);
      workload.execute();
      const std::vector<double> expected = elements(workload.output());
      const PreparedWeights weights((has_facts ? workload : other).plan(), workload.w().device());
      Arguments arguments = workload.device_arguments();
      arguments.prepared_weights = &weights;
      arguments.w.data = nullptr;
      workload.output().upload();
      workload.plan().execute(execution_space(), arguments);
      fence();
      workload.output().download();
      const std::vector<double> values = elements(workload.output());
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(std::abs(values[i] - expected[i]) <= 1e-4 + 1e-4 * std::abs(expected[i]));
    }
}

TEST_CASE("a plan says where its shortcut is decided, or why it has none", "[conformance]") {
  Settings settings;
  settings.m = 64;
  settings.n = 70;
  settings.k = 130;
  std::string engine;
  const bool has_shortcuts = find_engine(engine);
  settings.engine = is_host() ? "" : "kokkos_kernels";
  const Workload refused(settings, Epilogue("sum(y, dim=1)"));
  const std::string reason = "no shortcut without the GEMM: it would be decided on the device";
  CHECK((refused.plan().explain().find(reason) != std::string::npos) == !is_host());
  CHECK((refused.plan().explain_json().find("shortcut_refusal") != std::string::npos) ==
        !is_host());
  if (!has_shortcuts) return;
  settings.engine = engine;
  const Workload workload(settings, Epilogue("sum(y, dim=1)"));
  CHECK((workload.plan().explain().find("decided on the device") != std::string::npos) ==
        !is_host());
  CHECK(workload.plan().explain_json().find(is_host() ? "\"decided_on\": \"host\""
                                                      : "\"decided_on\": \"device\"") !=
        std::string::npos);
}

#ifdef KOKKOS_ENABLE_CUDA
TEST_CASE("a graph decides anew on a shortcut in every replay", "[conformance]") {
  std::string engine;
  if (backend() != Backend::cuda || !find_engine(engine)) return;
  Random random;
  INFO(random.hint());
  for (const char* text :
       {"m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))", "sum(y + bias, dim=1)",
        "mean(y - bias, dim=0)", "return sum(y, dim=0), mean(y * 2, dim=1)"})
    for (const bool is_prepared : {false, true}) {
      INFO(text << (is_prepared ? ", prepared weights" : ""));
      Settings base;
      base.m = 64 + random.below(100);
      base.n = 2 + random.below(300);
      base.k = 16 + random.below(3000);
      base.engine = engine;
      INFO(describe(base));
      Settings plain = base;
      plain.without_rewrites = {"all"};
      MixedWorkload workload(settings_of(base), text, {{"bias", OperandKind::row}});
      MixedWorkload full(settings_of(plain), text, {{"bias", OperandKind::row}});
      REQUIRE(workload.plan().implementation().guarded() != nullptr);
      fill_both(workload.x(), full.x(), random, -1, 1);
      fill_both(workload.w(), full.w(), random, -1, 1);
      fill_both(workload.operand("bias"), full.operand("bias"), random, -1, 1);
      workload.execute();  // everything is on the device
      PreparedWeights weights(workload.plan(), workload.w().device());
      cudaStream_t stream = nullptr;
      REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
      {
        const ExecutionSpace space{Kokkos::Cuda(stream)};
        const DeviceBuffer workspace(workload.plan().workspace_bytes());
        Arguments arguments = workload.device_arguments();
        if (is_prepared) arguments.prepared_weights = &weights;
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
        workload.plan().execute(space, arguments, workspace.data(), workspace.bytes());
        REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
        REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
        for (const double number : {0.5, std::numeric_limits<double>::quiet_NaN(), 0.25,
                                    std::numeric_limits<double>::infinity(), 3e38, 0.75}) {
          INFO("with " << number);
          fill_both(workload.x(), full.x(), random, -1, 1);
          spoil(workload.x(), number, random);
          fill(full.x(), elements(workload.x()));
          full.execute();
          workload.x().upload();
          for (std::size_t r = 0; r < full.plan().result_count(); ++r) {
            fill(workload.output(r), [] { return -12345.0; });
            workload.output(r).upload();
          }
          fence();
          REQUIRE(cudaGraphLaunch(executable, stream) == cudaSuccess);
          REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
          for (std::size_t r = 0; r < full.plan().result_count(); ++r)
            workload.output(r).download();
          int word = -1;
          workspace.copy_to_host(&word, 0, sizeof word);
          CHECK(word == (std::abs(number) < 1 ? 1 : 0));
          check_agreement(full, workload, 1e-4, 0);
        }
        CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
        CHECK(cudaGraphDestroy(graph) == cudaSuccess);
      }
      CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    }
}
#endif
