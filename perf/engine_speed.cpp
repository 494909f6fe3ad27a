// How fast the engines are on the two founding workloads, beside the strict float32 engine: medians
// over replays of a CUDA graph, and what one execution costs the host. Results are compared with
// those of the strict engine before anything is timed.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "engine_data.hpp"
#include "timing.hpp"

namespace {

using namespace postlude;
using namespace postlude::perf;

struct Workload {
  const char* name;
  const char* text;
  std::int64_t m, n, k;
  bool has_scalar;
  std::int64_t result_rows;
};

struct Mode {
  const char* name;
  DataType dtype;
  ComputeMode compute;
  double tolerance;
  const char* engine = "";
};

/// What results are compared with.
constexpr Mode strict{"f32", DataType::float32, ComputeMode::f32, 1e-4, "cublaslt"};

constexpr Mode modes[] = {
    strict,
    {"f32", DataType::float32, ComputeMode::f32, 1e-4},
    {"f32_emulated_f16x3", DataType::float32, ComputeMode::f32_emulated_f16x3, 1e-4},
    {"f32_fast_tf32", DataType::float32, ComputeMode::f32_fast_tf32, 1e-2},
    {"f16", DataType::float16, ComputeMode::automatic, 1e-2},
    {"bf16", DataType::bfloat16, ComputeMode::automatic, 1e-2},
    {"bf16", DataType::bfloat16, ComputeMode::automatic, 1e-2, "hopper"}};

struct Violations {
  const float* out;
  const float* reference;
  double tolerance;

  KOKKOS_FUNCTION void operator()(const std::int64_t i, std::int64_t& count) const {
    const auto expected = static_cast<double>(reference[i]);
    const double difference = static_cast<double>(out[i]) - expected;
    const double allowed = tolerance + tolerance * (expected < 0 ? -expected : expected);
    if (!((difference < 0 ? -difference : difference) <= allowed)) ++count;
  }
};

std::int64_t violations(const FloatMatrix& out, const FloatMatrix& reference, double tolerance) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("violations",
                          Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
                              0, static_cast<std::int64_t>(out.size())),
                          Violations{out.data(), reference.data(), tolerance}, count);
  return count;
}

/// Inputs of one dtype.
struct Inputs {
  Tensor x, w, bias;
  std::vector<SmallMatrix> owners;
};

Tensor as_row(Tensor matrix) {
  matrix.rank = 1;
  matrix.extent[0] = matrix.extent[1];
  matrix.stride[0] = 1;
  return matrix;
}

class Bench {
 public:
  explicit Bench(const Workload& workload)
      : workload_(workload),
        x_(uniform_matrix(workload.m, workload.k, 1, 0, 1)),
        w_(uniform_matrix(workload.n, workload.k, 2, -bound(), bound())),
        bias_(uniform_matrix(1, workload.n, 3, -bound(), bound())),
        reference_(make_matrix(workload.result_rows, workload.n)) {
    Kokkos::fence();
    execute_in_float32(strict, nullptr, reference_);
  }

  bool measure(const Mode& mode, bool is_prepared) {
    const FloatMatrix out = make_matrix(workload_.result_rows, workload_.n);
    Kokkos::deep_copy(out, NAN);
    const Inputs inputs = inputs_of(mode.dtype);
    const Space space;
    PlanOptions options;
    options.engine = mode.engine;
    const Plan linear(space, {inputs.x, inputs.w, mode.compute}, "y", {}, options);
    std::optional<PreparedWeights> prepared;
    if (is_prepared) prepared.emplace(linear, inputs.w);
    const PreparedWeights* const weights = is_prepared ? &*prepared : nullptr;
    execute_in_float32(mode, weights, out);
    const std::int64_t wrong = violations(out, reference_, mode.tolerance);

    const Plan whole(space, {inputs.x, inputs.w, mode.compute}, workload_.text, declarations(),
                     options);
    const FloatMatrix memory = make_matrix(workload_.m, workload_.n);
    const Tensor result =
        matrix_tensor(memory.data(), mode.dtype, workload_.result_rows, workload_.n);
    const Tensor y = matrix_tensor(memory.data(), mode.dtype, workload_.m, workload_.n);
    const Arguments arguments{inputs.x, inputs.w, bindings(inputs.bias), {result}, weights};
    const Arguments bare{inputs.x, inputs.w, {}, {y}, weights};
    const Timing of_linear = time_repeated(space, 21, 10, [&] { linear.execute(bare); });
    const Timing of_whole = time_repeated(space, 21, 10, [&] { whole.execute(arguments); });
    std::printf("| %s | %s%s%s%s | %.4f +- %.4f | %.4f +- %.4f | %.0f | %lld |\n", workload_.name,
                mode.name, *mode.engine == 0 ? "" : ", engine ", mode.engine,
                is_prepared ? ", prepared weights" : "", of_linear.median * 1e3,
                of_linear.spread * 1e3, of_whole.median * 1e3, of_whole.spread * 1e3,
                whole.gemm_flops() / of_whole.median * 1e-12, static_cast<long long>(wrong));
    return wrong == 0;
  }

 private:
  double bound() const { return 1 / std::sqrt(static_cast<double>(workload_.k)); }

  std::vector<OperandDeclaration> declarations() const {
    std::vector<OperandDeclaration> list = {{"bias", OperandKind::row}};
    if (workload_.has_scalar) list.push_back({"c", OperandKind::scalar});
    return list;
  }

  std::vector<Binding> bindings(const Tensor& bias) const {
    std::vector<Binding> list = {{"bias", bias}};
    if (workload_.has_scalar) list.push_back({"c", 2.0});
    return list;
  }

  Inputs inputs_of(DataType dtype) const {
    Inputs inputs;
    if (dtype == DataType::float32) {
      inputs.x = as_tensor(x_);
      inputs.w = as_tensor(w_);
      inputs.bias = as_row(as_tensor(bias_));
      return inputs;
    }
    for (const FloatMatrix& matrix : {x_, w_, bias_})
      inputs.owners.push_back(round_to(dtype, matrix).small);
    Kokkos::fence();
    inputs.x = small_tensor(inputs.owners[0], dtype);
    inputs.w = small_tensor(inputs.owners[1], dtype);
    inputs.bias = as_row(small_tensor(inputs.owners[2], dtype));
    return inputs;
  }

  void execute_in_float32(const Mode& mode, const PreparedWeights* weights,
                          const FloatMatrix& out) const {
    const Inputs inputs = inputs_of(mode.dtype);
    PlanOptions options;
    options.layout = ResultLayout::any;
    options.engine = mode.engine;
    const Plan plan(Space(), {inputs.x, inputs.w, mode.compute}, workload_.text, declarations(),
                    options);
    plan.execute(Arguments{inputs.x, inputs.w, bindings(inputs.bias), {as_tensor(out)}, weights});
    Kokkos::fence();
  }

  Workload workload_;
  FloatMatrix x_, w_, bias_, reference_;
};

/// What one execution of a small problem costs the host, launched in turns of 100.
void measure_host(const Mode& mode, bool is_prepared) {
  const Space space;
  const FloatMatrix x = uniform_matrix(64, 256, 1, 0, 1);
  const FloatMatrix w = uniform_matrix(128, 256, 2, -1, 1);
  const FloatMatrix bias = uniform_matrix(1, 128, 3, -1, 1);
  Kokkos::fence();
  SmallMatrix small_x, small_w, small_bias;
  Tensor x_tensor = as_tensor(x);
  Tensor w_tensor = as_tensor(w);
  Tensor bias_tensor = as_tensor(bias);
  if (mode.dtype != DataType::float32) {
    small_x = round_to(mode.dtype, x).small;
    small_w = round_to(mode.dtype, w).small;
    small_bias = round_to(mode.dtype, bias).small;
    Kokkos::fence();
    x_tensor = small_tensor(small_x, mode.dtype);
    w_tensor = small_tensor(small_w, mode.dtype);
    bias_tensor = small_tensor(small_bias, mode.dtype);
  }
  PlanOptions options;
  options.compilation = StageCompilation::always;
  options.engine = mode.engine;
  const Plan plan(space, {x_tensor, w_tensor, mode.compute}, "min(y + bias, c) - c",
                  {{"bias", OperandKind::row}, {"c", OperandKind::scalar}}, options);
  std::optional<PreparedWeights> prepared;
  if (is_prepared) prepared.emplace(plan, w_tensor);
  const FloatMatrix memory = make_matrix(64, 128);
  const Arguments arguments{x_tensor,
                            w_tensor,
                            {{"bias", as_row(bias_tensor)}, {"c", 2.0}},
                            {matrix_tensor(memory.data(), mode.dtype, 64, 128)},
                            is_prepared ? &*prepared : nullptr};
  constexpr int turn = 100;
  std::vector<double> seconds;
  for (int i = -2; i < 21; ++i) {
    space.fence();
    const auto begin = std::chrono::steady_clock::now();
    for (int j = 0; j < turn; ++j) plan.execute(arguments);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (i >= 0) seconds.push_back(taken.count() / turn);
  }
  space.fence();
  const Timing executing = summarize(seconds);
  seconds.clear();
  for (int i = 0; i < 21; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (int j = 0; j < turn; ++j) plan.validate(ExecutionSpace(space), arguments);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    seconds.push_back(taken.count() / turn);
  }
  const Timing validating = summarize(seconds);

  cudaStream_t stream = space.cuda_stream();
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return;
  plan.execute(arguments);
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) return;
  if (cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess) return;
  seconds.clear();
  for (int i = -2; i < 21; ++i) {
    space.fence();
    const auto begin = std::chrono::steady_clock::now();
    for (int j = 0; j < turn; ++j) cudaGraphLaunch(executable, stream);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (i >= 0) seconds.push_back(taken.count() / turn);
  }
  space.fence();
  const Timing replaying = summarize(seconds);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  std::printf("| %s%s%s%s | %.2f +- %.2f | %.2f | %.2f +- %.2f |\n", mode.name,
              *mode.engine == 0 ? "" : ", engine ", mode.engine,
              is_prepared ? ", prepared weights" : "", executing.median * 1e6,
              executing.spread * 1e6, validating.median * 1e6, replaying.median * 1e6,
              replaying.spread * 1e6);
}

bool run(double shrink) {
  const auto size = [&](double full) { return static_cast<std::int64_t>(full * shrink); };
  const Workload workloads[] = {
      {"S1", "min(y + bias, c) - c", 128, size(16384), size(16384), true, 128},
      {"S2, d = 0", "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))", size(1024), size(8192),
       size(8192), false, 1}};
  std::printf(
      "| workload | mode | linear layer, ms | with the epilogue, ms | TFLOP/s | outside the "
      "tolerance |\n|---|---|---|---|---|---|\n");
  bool good = true;
  for (const Workload& workload : workloads) {
    Bench bench(workload);
    for (const Mode& mode : modes) {
      const bool can_prepare =
          mode.compute == ComputeMode::f32_emulated_f16x3 ||
          (mode.compute == ComputeMode::f32 && mode.dtype == DataType::float32 && !*mode.engine);
      for (const bool is_prepared : {false, true})
        if (!is_prepared || can_prepare) good &= bench.measure(mode, is_prepared);
    }
  }
  std::printf(
      "\nTime of the host, M = 64, N = 128, K = 256, S1's epilogue\n\n"
      "| mode | execute, us | of that, checking the arguments | replay of its graph, us |\n"
      "|---|---|---|---|\n");
  for (const Mode& mode : modes) measure_host(mode, false);
  for (const char* engine : {"hopper", "split"})
    for (const bool is_prepared : {false, true})
      measure_host(
          {"f32_emulated_f16x3", DataType::float32, ComputeMode::f32_emulated_f16x3, 1e-4, engine},
          is_prepared);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  const double shrink = argc > 1 ? std::atof(argv[1]) : 1.0;
  if (!(shrink > 0 && shrink <= 1)) {
    std::fprintf(stderr,
                 "usage: %s [shrink], 0 < shrink <= 1: factor for in_features and out_features\n",
                 argv[0]);
    return 2;
  }
  return run(shrink) ? 0 : 1;
}
