#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <utility>

#include "cli_error.hpp"
#include "commands.hpp"
#include "machine_file.hpp"
#include "timing.hpp"
#include "workload.hpp"

namespace postlude {
namespace cli {
namespace {

/// Least seconds of several executions, each timed with enough repetitions for the clock.
double least_seconds(SyntheticWorkload& synthetic) {
  Workload& workload = synthetic.workload;
  const auto run = [&](int executions) {
    return seconds_of([&] {
      for (int i = 0; i < executions; ++i) workload.execute();
      workload.synchronize();
    });
  };
  run(1);
  constexpr double long_enough = 0.05;
  const int executions =
      static_cast<int>(std::min(1000.0, std::max(1.0, long_enough / std::max(1e-9, run(1)))));
  double least = run(executions) / executions;
  for (int pass = 0; pass < 4; ++pass) least = std::min(least, run(executions) / executions);
  return least;
}

SyntheticArguments problem(const CalibrateArguments& arguments, std::string expression,
                           std::int64_t rows, std::int64_t in_features, std::int64_t columns) {
  SyntheticArguments made;
  static_cast<PlanArguments&>(made) = arguments;
  made.expression = std::move(expression);
  made.shape.batch = rows;
  made.shape.in_features = in_features;
  made.shape.out_features = columns;
  return made;
}

/// Bytes per second of a sweep that copies a matrix: y is not computed.
double copy_bandwidth(const CalibrateArguments& arguments, std::int64_t extent,
                      Progress& progress) {
  SyntheticArguments copy = problem(arguments, "m", extent, 1, extent);
  copy.definitions.push_back(parse_definition("m=random:full"));
  SyntheticWorkload synthetic = make_synthetic_workload(copy);
  fill_inputs(synthetic, copy, progress);
  progress.phase("measuring a copy");
  const double bytes =
      2 * sizeof(float) * static_cast<double>(extent) * static_cast<double>(extent);
  return bytes / least_seconds(synthetic);
}

struct GemmKind {
  const char* name;
  postlude_dtype dtype;
  postlude_compute_mode compute;
};

constexpr std::array<GemmKind, 6> gemm_kinds{{
    {"f64", POSTLUDE_FLOAT64, POSTLUDE_COMPUTE_AUTOMATIC},
    {"f32", POSTLUDE_FLOAT32, POSTLUDE_COMPUTE_F32},
    {"f32_emulated_f16x3", POSTLUDE_FLOAT32, POSTLUDE_COMPUTE_F32_EMULATED_F16X3},
    {"f32_fast_tf32", POSTLUDE_FLOAT32, POSTLUDE_COMPUTE_F32_FAST_TF32},
    {"f16", POSTLUDE_FLOAT16, POSTLUDE_COMPUTE_AUTOMATIC},
    {"bf16", POSTLUDE_BFLOAT16, POSTLUDE_COMPUTE_AUTOMATIC},
}};

/// FLOP/s of a square GEMM; nothing where the backend does not have the mode.
std::optional<double> gemm_rate(const CalibrateArguments& arguments, const GemmKind& kind,
                                std::int64_t extent, Progress& progress) {
  SyntheticArguments square = problem(arguments, "y", extent, extent, extent);
  square.dtype = kind.dtype;
  square.compute = kind.compute;
  std::optional<SyntheticWorkload> synthetic;
  try {
    synthetic.emplace(make_synthetic_workload(square));
  } catch (const CliError&) {
    return std::nullopt;  // no engine has this mode here
  }
  fill_inputs(*synthetic, square, progress);
  progress.phase(fmt::format("measuring a GEMM in {}", kind.name));
  double flops = 0;
  double bytes = 0;
  require(postlude_plan_work(synthetic->workload.plan(), &flops, &bytes));
  return flops / least_seconds(*synthetic);
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

int calibrate(const CalibrateArguments& arguments) {
  const Context context = create_context(arguments);
  postlude_backend backend = POSTLUDE_BACKEND_DEFAULT;
  require(postlude_context_backend(context.get(), &backend));
  postlude_memory_space space = POSTLUDE_HOST;
  require(postlude_context_memory_space(context.get(), &space));
  const bool is_accelerator = space != POSTLUDE_HOST;

  MachineLimits limits;
  limits.date = now();
  limits.threads = is_accelerator ? 0 : arguments.threads;
  Progress progress;
  // Far beyond any cache, and enough work for a whole accelerator.
  limits.copy_bytes_per_second = copy_bandwidth(arguments, is_accelerator ? 16384 : 8192, progress);
  for (const GemmKind& kind : gemm_kinds)
    if (const auto rate = gemm_rate(arguments, kind, is_accelerator ? 8192 : 1536, progress))
      limits.gemm_flops_per_second[kind.name] = *rate;
  progress.done();

  const std::string name = postlude_backend_name(backend);
  write_machine_limits(arguments.machine_file, name, limits);
  fmt::print("backend {}: copy {:.1f} GB/s", name, limits.copy_bytes_per_second * 1e-9);
  for (const auto& [kind, rate] : limits.gemm_flops_per_second)
    fmt::print(", GEMM in {} {:.1f} GFLOP/s", kind, rate * 1e-9);
  fmt::print("\nwritten to {}\n", arguments.machine_file);
  return exit_ok;
}

}  // namespace cli
}  // namespace postlude
