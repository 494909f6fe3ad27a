#include "suite.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "data.hpp"
#include "git_state.hpp"
#include "machine.hpp"
#include "peer.hpp"
#include "report.hpp"
#include "roofs.hpp"
#include "statistics.hpp"

namespace postlude {
namespace perf {
namespace {

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
    const Backend backend = space.backend();
    for (const ComputeMode compute : {ComputeMode::automatic, ComputeMode::f32_emulated_f16x3})
      for (const bool is_prepared : {false, true})
        peers_.push_back(make_postlude(backend, compute, is_prepared, options.engine));
    peers_.push_back(make_postlude(backend, ComputeMode::f32_fast_tf32, false, options.engine));
    peers_.push_back(make_kokkos_unfused(backend));
    for (const bool is_tf32 : {false, true})
      peers_.push_back(make_cublaslt_epilogues(backend, is_tf32));
    peers_.push_back(make_blas_alone(backend));
    peers_.push_back(make_blas_loops(backend));
    for (const bool is_prepared : {false, true})
      peers_.push_back(make_onednn(backend, is_prepared));
  }

  /// False when a result of Postlude's is outside its tolerance.
  bool run(const std::vector<Case>& cases) {
    for (auto peer = peers_.begin(); peer != peers_.end();) {
      const std::string reason = (*peer)->absence();
      const bool is_wanted = is_selected((*peer)->name(), options_.peers, ';');
      if (is_wanted && !reason.empty()) report_.missing((*peer)->name(), "*", reason);
      peer = is_wanted && reason.empty() ? peer + 1 : peers_.erase(peer);
    }
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
      reference_.reset();  // before the new ones take their memory
      inputs_.reset();
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
      reference_ = std::make_unique<Reference>(space_, *inputs_, options_.check_flops, random_);
    }
    inputs_->add_operands(what);
  }

  /// A case that a peer is ready for, and whose result was right or not.
  struct Ready {
    const Peer* peer;
    std::vector<DeviceTensor> outputs;
    Work work;
    Check check;
  };

  void run(const Case& what) {
    std::vector<Ready> ready;
    for (const auto& peer : peers_) {
      std::string reason = peer->refusal(what);
      if (reason.empty() && is_out_of_time()) reason = "the time of --seconds was spent";
      try {
        if (reason.empty()) {
          ready.push_back(get_ready(what, *peer));
          if (!options_.is_in_turns) {
            measured(what, ready.back(),
                     sample(space_, inputs_->copies(), options_.repeats, options_.sample_seconds,
                            ready.back().work));
            ready.clear();
          }
        }
      } catch (const Refusal& refusal) {
        reason = refusal.what();
      } catch (const std::exception& error) {
        reason = error.what();
        is_right_ = is_right_ && !peer->must_be_right();
      }
      if (reason.empty()) continue;
      report_.missing(peer->name(), what.name(), reason);
      std::printf("%-58s %-42s missing: %s\n", what.name().c_str(), peer->name().c_str(),
                  reason.c_str());
    }
    if (!ready.empty()) measure_in_turns(what, ready);
  }

  void measure_in_turns(const Case& what, const std::vector<Ready>& ready) {
    std::vector<Work> works;
    for (const Ready& each : ready) works.push_back(each.work);
    const std::vector<Samples> samples = sample_in_turns(
        space_, inputs_->copies(), options_.repeats, options_.sample_seconds, works);
    for (std::size_t i = 0; i < ready.size(); ++i) measured(what, ready[i], samples[i]);
  }

  Ready get_ready(const Case& what, const Peer& peer) {
    prepare_inputs(what);
    const Case computed = peer.computed(what);
    const std::vector<std::int64_t> extents = plan_of(space_, computed, *inputs_).result_extents(0);
    Ready ready;
    ready.peer = &peer;
    for (int copy = 0; copy < inputs_->copies(); ++copy)
      ready.outputs.emplace_back(space_, what.dtype, extents[1], extents[2]);
    ready.work = peer.prepare(space_, computed, *inputs_, ready.outputs);
    const int copy = reference_->copy();
    const DeviceTensor& output = ready.outputs[static_cast<std::size_t>(copy)];
    output.poison(space_);
    ready.work(copy);
    ready.check = reference_->check(computed, output);
    if (ready.check.violations != 0 && peer.must_be_right()) is_right_ = false;
    return ready;
  }

  void measured(const Case& what, const Ready& ready, const Samples& samples) {
    const Plan plan = plan_of(space_, what, *inputs_);
    report_.measured(what, ready.peer->name(), samples, inputs_->copies(), ready.check,
                     plan.gemm_flops(), plan.minimum_bytes());
    const Statistics seconds = statistics_of(samples.seconds);
    std::printf("%-58s %-42s %10.4f ms +- %.4f  error %.2g%s\n", what.name().c_str(),
                ready.peer->name().c_str(), seconds.median * 1e3, seconds.mad * 1e3,
                ready.check.largest_absolute_error,
                ready.check.violations == 0 ? "" : "  OUTSIDE TOLERANCE");
    std::fflush(stdout);
  }

  const Options& options_;
  ExecutionSpace space_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mt19937_64 random_;
  Report report_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::unique_ptr<Inputs> inputs_;
  std::unique_ptr<Reference> reference_;  // of the inputs
  bool is_right_ = true;
};

}  // namespace

bool run_suite(const Options& options, const ExecutionSpace& space,
               const std::vector<Case>& cases) {
  return Suite(options, space).run(cases);
}

}  // namespace perf
}  // namespace postlude
