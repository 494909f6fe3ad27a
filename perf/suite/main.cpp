// Measures the programs of perf/programs.json with Postlude and with the peers that are written in
// C++, checks every result before it is timed, and writes the results as JSON. See perf/README.md.

#include <Kokkos_Core.hpp>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "case.hpp"
#include "check.hpp"
#include "data.hpp"
#include "git_state.hpp"
#include "machine.hpp"
#include "peer.hpp"
#include "report.hpp"
#include "roofs.hpp"
#include "statistics.hpp"

namespace {

using namespace postlude;
using namespace postlude::perf;

struct Options {
  std::string backend;
  std::string size_class = "short";
  std::string filter;
  std::string peers = "";
  std::string engine;
  std::string output;
  int repeats = 11;
  double sample_seconds = 0.005;
  double seconds = 1e9;
  double check_flops = 1e10;
  std::uint64_t seed = 0;
  bool is_list = false;
};

ExecutionSpace default_space() { return Kokkos::DefaultExecutionSpace(); }

ExecutionSpace space_named(const std::string& name) {
  if (name.empty()) return default_space();
#ifdef KOKKOS_ENABLE_SERIAL
  if (name == name_of(Backend::serial)) return Kokkos::Serial();
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  if (name == name_of(Backend::openmp)) return Kokkos::OpenMP();
#endif
#ifdef KOKKOS_ENABLE_THREADS
  if (name == name_of(Backend::threads)) return Kokkos::Threads();
#endif
#ifdef KOKKOS_ENABLE_CUDA
  if (name == name_of(Backend::cuda)) return Kokkos::Cuda();
#endif
  throw std::runtime_error("backend is '" + name + "', which this build does not have");
}

/// A plan knows the work of its problem and the extents of its result.
Plan plan_of(const ExecutionSpace& space, const Case& what, const Inputs& inputs) {
  std::vector<OperandDeclaration> declarations;
  for (const CaseOperand& operand : what.operands)
    declarations.push_back({operand.name, operand.kind});
  PlanOptions options;
  options.compilation = StageCompilation::never;  // it is not executed
  return Plan(space, {inputs.x(0).tensor(), inputs.w(0).tensor()}, what.text, declarations,
              options);
}

class Suite {
 public:
  Suite(const Options& options, const ExecutionSpace& space)
      : options_(options), space_(space), random_(options.seed), report_(options.output, head()) {
    peers_.push_back(make_postlude(options.engine));
    peers_.push_back(make_kokkos_unfused(space.backend()));
    peers_.push_back(make_blas_loops(space.backend()));
  }

  /// False when a result of Postlude's is outside its tolerance.
  bool run(const std::vector<Case>& cases) {
    report_.missing("postlude, prepared weights", "*", "the library has no prepared weights yet");
    report_.missing("cuBLASLt with its own epilogues", "*", "this peer is not written yet");
    report_.missing("oneDNN with post-ops", "*", "this peer is not written yet");
    for (const Case& what : cases)
      if (is_selected(what.name(), options_.filter)) run(what);
    return is_right_;
  }

 private:
  nlohmann::json head() const {
    return {{"schema", 1},
            {"date", date()},
            {"size", options_.size_class},
            {"backend", name_of(space_.backend())},
            {"seed", options_.seed},
            {"git", {{"commit", POSTLUDE_GIT_COMMIT}, {"changed", POSTLUDE_GIT_CHANGED}}},
            {"machine", machine_of(space_.backend())},
            {"software", software()},
            {"roofs", measure_roofs(space_, options_.size_class, options_.seed)}};
  }

  bool is_out_of_time() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    return spent.count() > options_.seconds;
  }

  void prepare_inputs(const Case& what) {
    if (!inputs_ || !inputs_->fit(what)) {
      inputs_.reset();  // before the new ones take their memory
      const std::size_t usable = usable_bytes(space_.backend());
      const double most = static_cast<double>(usable) / static_cast<double>(size_of(what.dtype));
      const double needed =
          3.0 * (static_cast<double>(what.m + what.n) * static_cast<double>(what.k) +
                 2.0 * static_cast<double>(what.m) * static_cast<double>(what.n));
      if (needed > most) throw std::runtime_error("it needs more memory than half of what is free");
      // Nobody reads the times of the tiny class.
      const std::size_t wanted = options_.size_class == "tiny"
                                     ? 0
                                     : std::min(2 * cache_bytes(space_.backend()), usable / 2);
      inputs_ = std::make_unique<Inputs>(space_, what, wanted, options_.seed);
    }
    inputs_->add_operands(what);
  }

  void run(const Case& what) {
    for (const auto& peer : peers_) {
      if (!is_selected(peer->name(), options_.peers)) continue;
      std::string reason = peer->refusal(what);
      if (reason.empty() && is_out_of_time()) reason = "the time of --seconds was spent";
      try {
        if (reason.empty()) measure(what, *peer);
      } catch (const std::exception& error) {
        reason = error.what();
        is_right_ = is_right_ && peer != peers_.front();
      }
      if (reason.empty()) continue;
      report_.missing(peer->name(), what.name(), reason);
      std::printf("%-58s %-42s missing: %s\n", what.name().c_str(), peer->name().c_str(),
                  reason.c_str());
    }
  }

  void measure(const Case& what, const Peer& peer) {
    prepare_inputs(what);
    const Plan plan = plan_of(space_, what, *inputs_);
    const std::vector<std::int64_t> extents = plan.result_extents(0);
    std::vector<DeviceTensor> outputs;
    for (int copy = 0; copy < inputs_->copies(); ++copy)
      outputs.emplace_back(space_, what.dtype, extents[1], extents[2]);
    const Work work = peer.prepare(space_, what, *inputs_, outputs);
    const int copy = static_cast<int>(random_() % static_cast<std::uint64_t>(inputs_->copies()));
    outputs[static_cast<std::size_t>(copy)].poison(space_);
    work(copy);
    const Check check =
        perf::check(space_, what, *inputs_, copy, outputs[static_cast<std::size_t>(copy)],
                    options_.check_flops, random_);
    if (check.violations != 0 && &peer == peers_.front().get()) is_right_ = false;
    const Samples samples =
        sample(space_, inputs_->copies(), options_.repeats, options_.sample_seconds, work);
    report_.measured(what, peer.name(), samples, inputs_->copies(), check, plan.gemm_flops(),
                     plan.minimum_bytes());
    const Statistics seconds = statistics_of(samples.seconds);
    std::printf("%-58s %-42s %10.4f ms +- %.4f  error %.2g%s\n", what.name().c_str(),
                peer.name().c_str(), seconds.median * 1e3, seconds.mad * 1e3,
                check.largest_absolute_error, check.violations == 0 ? "" : "  OUTSIDE TOLERANCE");
    std::fflush(stdout);
  }

  const Options& options_;
  ExecutionSpace space_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mt19937_64 random_;
  Report report_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::unique_ptr<Inputs> inputs_;
  bool is_right_ = true;
};

void list(const std::vector<Case>& cases, const std::string& filter) {
  for (const Case& what : cases)
    if (is_selected(what.name(), filter))
      std::printf("%s\n    %s\n", what.name().c_str(), what.text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  // A new seed in every run; one that is given repeats a run.
  options.seed =
      (static_cast<std::uint64_t>(std::random_device()()) << 16) ^ std::random_device()();
  CLI::App app("Measures Postlude beside its peers; perf/README.md says how to read the results");
  app.add_option("--backend", options.backend, "serial, openmp, threads or cuda");
  app.add_option("--size", options.size_class, "full, short or tiny (default: short)");
  app.add_option("--filter", options.filter, "cases whose name has one of these parts: a,b,...");
  app.add_option("--peers", options.peers, "peers whose name has one of these parts: a,b,...");
  app.add_option("--engine", options.engine, "GEMM engine of Postlude's plans");
  app.add_option("--repeats", options.repeats, "samples of each measurement (default: 11)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--sample-seconds", options.sample_seconds, "length of a sample (default: 0.005)")
      ->check(CLI::Range(0.0, 60.0));
  app.add_option("--seconds", options.seconds, "start no measurement after so many seconds");
  app.add_option("--check-flops", options.check_flops,
                 "a result is checked whole when its GEMM takes no more (default: 1e10)");
  app.add_option("--seed", options.seed, "of the random data (default: another in every run)");
  app.add_option("--output", options.output, "file of the results");
  app.add_flag("--list", options.is_list, "print the cases and measure nothing");
  CLI11_PARSE(app, argc, argv);
  try {
    const std::vector<Case> cases = cases_of(options.size_class);
    if (options.is_list) {
      list(cases, options.filter);
      return 0;
    }
    Kokkos::ScopeGuard guard;
    const ExecutionSpace space = space_named(options.backend);
    std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
    return Suite(options, space).run(cases) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
