#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "check_report.hpp"
#include "cli_error.hpp"
#include "commands.hpp"
#include "element_type.hpp"
#include "parallel_for.hpp"
#include "timing.hpp"
#include "workload.hpp"

namespace postlude {
namespace cli {
namespace {

// A plan that can be executed, and how it is sampled.
class Subject {
 public:
  Subject(const postlude_plan* plan, const postlude_bindings& bindings, postlude_context* context)
      : plan_(plan), bindings_(bindings), context_(context) {}

  void warm_up(int executions) {
    for (int i = 0; i < executions; ++i) run(1);
    // Executions that are short beside the clock, or beside the wait for an accelerator, are
    // measured several at a time.
    constexpr double long_enough = 0.02;
    constexpr double most = 10000;
    const double once = std::max(1e-9, run(1));
    executions_ = static_cast<int>(std::min(most, std::ceil(long_enough / once)));
  }

  void sample() { samples_.push_back(run(executions_) / executions_); }

  int executions_per_sample() const { return executions_; }
  const std::vector<double>& samples() const { return samples_; }

 private:
  // Seconds of executions that are launched one after the other and waited for once.
  double run(int executions) const {
    return seconds_of([&] {
      for (int i = 0; i < executions; ++i) require(postlude_execute(plan_, &bindings_, nullptr));
      require(postlude_context_synchronize(context_));
    });
  }

  const postlude_plan* plan_;
  const postlude_bindings& bindings_;
  postlude_context* context_;
  int executions_ = 1;
  std::vector<double> samples_;
};

struct Measurement {
  Statistics seconds;
  int executions_per_sample = 1;
  std::vector<double> samples;
};

Measurement measurement_of(const Subject& subject) {
  return Measurement{statistics_of(subject.samples()), subject.executions_per_sample(),
                     subject.samples()};
}

struct Report {
  double gemm_flops = 0;
  double minimum_bytes = 0;
  Measurement program;
  Measurement gemm;
  /// Bytes per second of a copy in host memory; absent on accelerators.
  std::optional<double> copy_bandwidth;
  std::vector<postlude_check_result> checks;

  double flops_per_second() const { return gemm_flops / program.seconds.median; }
  double bytes_per_second() const { return minimum_bytes / program.seconds.median; }
  double share_of_gemm() const { return gemm.seconds.median / program.seconds.median; }
};

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} s", seconds);
}

std::string measurement_text(const Measurement& measurement) {
  const Statistics& seconds = measurement.seconds;
  return fmt::format("{} (median of {} x {}; quartiles {} to {}, all {} to {})",
                     seconds_text(seconds.median), measurement.samples.size(),
                     measurement.executions_per_sample, seconds_text(seconds.lower_quartile),
                     seconds_text(seconds.upper_quartile), seconds_text(seconds.minimum),
                     seconds_text(seconds.maximum));
}

std::string text_of(const Report& report, const SyntheticWorkload& synthetic,
                    const BenchArguments& arguments) {
  std::string text = fmt::format("{}, seed {}\n", problem_text(arguments, synthetic.context.get()),
                                 synthetic.seed);
  text += fmt::format("time     {}\n", measurement_text(report.program));
  text += fmt::format("rate     {:.1f} GFLOP/s counting the GEMM's {:.4g} GFLOP\n",
                      report.flops_per_second() * 1e-9, report.gemm_flops * 1e-9);
  text += fmt::format("         {:.2f} GB/s counting inputs and results once, {:.4g} GB\n",
                      report.bytes_per_second() * 1e-9, report.minimum_bytes * 1e-9);
  text += fmt::format("limit    {:.1f} % of the bare GEMM, the program 'y' measured in turn: {}\n",
                      100 * report.share_of_gemm(), measurement_text(report.gemm));
  if (report.copy_bandwidth)
    text += fmt::format("         {:.1f} % of the memory copy measured, {:.2f} GB/s\n",
                        100 * report.bytes_per_second() / *report.copy_bandwidth,
                        *report.copy_bandwidth * 1e-9);
  else
    text += "         (the accelerator's memory bandwidth is not measured)\n";
  if (arguments.is_checked)
    text += "\n" + check_report(synthetic.workload.results(), report.checks);
  return text;
}

nlohmann::json json_of(const Measurement& measurement) {
  const Statistics& seconds = measurement.seconds;
  return {{"median", seconds.median},
          {"minimum", seconds.minimum},
          {"maximum", seconds.maximum},
          {"lower_quartile", seconds.lower_quartile},
          {"upper_quartile", seconds.upper_quartile},
          {"samples", measurement.samples},
          {"executions_per_sample", measurement.executions_per_sample}};
}

nlohmann::json json_of(const Report& report, const SyntheticWorkload& synthetic,
                       const BenchArguments& arguments) {
  postlude_backend backend = POSTLUDE_BACKEND_DEFAULT;
  require(postlude_context_backend(synthetic.context.get(), &backend));
  nlohmann::json json = {{"postlude", postlude_version_string()},
                         {"expression", arguments.expression},
                         {"shape",
                          {{"batch", arguments.shape.batch},
                           {"in_features", arguments.shape.in_features},
                           {"out_features", arguments.shape.out_features}}},
                         {"dtype", element_name(arguments.dtype)},
                         {"backend", postlude_backend_name(backend)},
                         {"seed", synthetic.seed},
                         {"warm_up", arguments.warm_up},
                         {"seconds", json_of(report.program)},
                         {"gemm_flops", report.gemm_flops},
                         {"minimum_bytes", report.minimum_bytes},
                         {"flops_per_second", report.flops_per_second()},
                         {"bytes_per_second", report.bytes_per_second()},
                         {"limit",
                          {{"bare_gemm_seconds", json_of(report.gemm)},
                           {"share_of_bare_gemm", report.share_of_gemm()}}}};
  for (const ResultDescription& result : synthetic.workload.results())
    json["results"].push_back({{"name", result.name}, {"dtype", element_name(result.dtype)}});
  if (report.copy_bandwidth) {
    json["limit"]["copy_bytes_per_second"] = *report.copy_bandwidth;
    json["limit"]["share_of_copy"] = report.bytes_per_second() / *report.copy_bandwidth;
  }
  if (arguments.is_checked) {
    json["passed"] = is_within_tolerance(report.checks);
    json["checks"] = nlohmann::json::array();
    for (std::size_t i = 0; i < report.checks.size(); ++i) {
      const postlude_check_result& check = report.checks[i];
      json["checks"].push_back({{"result", synthetic.workload.results()[i].name},
                                {"elements", check.elements},
                                {"tolerance", check.tolerance},
                                {"violations", check.violations},
                                {"largest_absolute_error", check.largest_absolute_error},
                                {"largest_relative_error", check.largest_relative_error}});
    }
  }
  return json;
}

// The same problem without an epilogue, on the same x and w. Its result has the problem's dtype: a
// conversion to another is part of the program that is measured.
Workload make_bare_gemm(const SyntheticWorkload& synthetic, const BenchArguments& arguments) {
  PlanArguments bare = arguments;
  bare.expression = "y";
  bare.output_dtype.reset();
  // A choice is for what the program asks of the GEMM, which may be another.
  bare.gemm_choice_path.clear();
  bare.save_gemm_choice_path.clear();
  return Workload(synthetic.context.get(), bare, synthetic.workload.x_description(),
                  synthetic.workload.w_description(), {});
}

// The plan counts results in their natural dtype.
double bytes_beyond_natural(const ResultDescription& result) {
  const auto stored = static_cast<double>(element_bytes(result.dtype));
  const auto natural = static_cast<double>(element_bytes(result.natural_dtype));
  return static_cast<double>(result.rows) * static_cast<double>(result.columns) *
         (stored - natural);
}

Report measure(SyntheticWorkload& synthetic, const BenchArguments& arguments, Progress& progress) {
  postlude_context* const context = synthetic.context.get();
  Workload& workload = synthetic.workload;
  Report report;
  require(postlude_plan_work(workload.plan(), &report.gemm_flops, &report.minimum_bytes));
  for (const ResultDescription& result : workload.results())
    report.minimum_bytes += bytes_beyond_natural(result);

  fill_inputs(synthetic, arguments, progress);
  workload.poison_outputs();
  Workload bare_gemm = make_bare_gemm(synthetic, arguments);
  bare_gemm.allocate_with(workload);

  Subject program(workload.plan(), workload.backend_bindings(), context);
  Subject gemm(bare_gemm.plan(), bare_gemm.backend_bindings(), context);
  progress.phase("warming up");
  program.warm_up(arguments.warm_up);
  gemm.warm_up(arguments.warm_up);
  for (int i = 0; i < arguments.repeat; ++i) {
    progress.phase(fmt::format("measuring, sample {} of {}", i + 1, arguments.repeat));
    program.sample();
    gemm.sample();
  }
  report.program = measurement_of(program);
  report.gemm = measurement_of(gemm);

  postlude_memory_space space = POSTLUDE_HOST;
  require(postlude_context_memory_space(context, &space));
  if (space == POSTLUDE_HOST) {
    progress.phase("measuring the memory");
    postlude_backend backend = POSTLUDE_BACKEND_DEFAULT;
    require(postlude_context_backend(context, &backend));
    const unsigned threads = backend == POSTLUDE_BACKEND_SERIAL ? 1
                             : arguments.threads > 0 ? static_cast<unsigned>(arguments.threads)
                                                     : host_threads();
    report.copy_bandwidth = host_copy_bandwidth(threads);
  }

  if (arguments.is_checked) {
    progress.phase("computing the float64 reference");
    workload.copy_outputs_to_host();
    report.checks = workload.check(arguments.tolerance.value_or(0));
  }
  return report;
}

}  // namespace

int bench(const BenchArguments& arguments) {
  SyntheticWorkload synthetic = make_synthetic_workload(arguments);
  Progress progress;
  const Report report = measure(synthetic, arguments, progress);
  progress.done();
  if (arguments.is_json)
    // Bytes of the expression that are not UTF-8 are replaced.
    fmt::print("{}\n", json_of(report, synthetic, arguments)
                           .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    fmt::print("{}", text_of(report, synthetic, arguments));
  return is_within_tolerance(report.checks) ? exit_ok : exit_check_failed;
}

}  // namespace cli
}  // namespace postlude
