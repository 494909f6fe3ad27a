#include "gemm/microkernel.hpp"

#include <memory>
#include <string>

#include "gemm/avx512_kernels.hpp"
#include "gemm/empty_sums.hpp"
#include "gemm/microkernel_product.hpp"
#include "gemm/microkernel_weights.hpp"
#include "gemm/processor.hpp"
#include "gemm/thread_items.hpp"

namespace postlude {
namespace detail {
namespace {

RowsOfW rows_of_w(const GemmProblem& problem, const GemmArguments& arguments) {
  if (arguments.weights != nullptr)
    return static_cast<const MicrokernelWeights&>(*arguments.weights)
        .rows_from(arguments.first_column);
  RowsOfW rows;
  rows.data = static_cast<const float*>(arguments.w);
  rows.row = problem.w.row;
  rows.column = problem.w.column;
  return rows;
}

ProductMemory memory_of(const GemmProblem& problem, const GemmArguments& arguments) {
  ProductMemory memory;
  memory.x = static_cast<const float*>(arguments.x);
  memory.w = rows_of_w(problem, arguments);
  memory.y = static_cast<float*>(arguments.y);
  memory.workspace = static_cast<float*>(arguments.workspace);
  return memory;
}

class MicrokernelGemm final : public GemmPlan {
 public:
  MicrokernelGemm(const GemmProblem& problem, std::int64_t threads)
      : threads_(threads), product_(problem, threads) {}

  const MicrokernelProduct& product() const { return product_; }

  std::size_t make_ready(const GemmProblem&) const override { return product_.workspace_bytes(); }

  std::unique_ptr<GemmWeights> make_weights(const ExecutionSpace&,
                                            const GemmProblem& problem) const override {
    if (!can_take_weights(problem)) return nullptr;
    return std::make_unique<MicrokernelWeights>(problem.n, problem.k, threads_);
  }

  bool takes(const GemmWeights& weights, const GemmProblem& problem) const override {
    const auto* prepared = dynamic_cast<const MicrokernelWeights*>(&weights);
    return prepared != nullptr && prepared->n() == problem.n && prepared->k() == problem.k &&
           problem.batch == 1;
  }

  bool can_do_without(const GemmWeights& weights) const override {
    return dynamic_cast<const MicrokernelWeights*>(&weights) != nullptr;
  }

  void run(const ExecutionSpace&, const GemmProblem& problem,
           const GemmArguments& arguments) const override {
    if (problem.k == 0) return write_empty_sums(problem, static_cast<float*>(arguments.y));
    if (!is_trivial(problem)) product_.run(problem, memory_of(problem, arguments));
  }

  void share_with_threads(const ExecutionSpace&, const GemmProblem& problem,
                          const GemmArguments& arguments) const override {
    if (!is_trivial(problem)) product_.pack(problem, memory_of(problem, arguments));
  }

  void run_on_thread(std::int64_t thread, const GemmProblem& problem,
                     const GemmArguments& arguments) const override {
    if (problem.k == 0) return write_empty_sums(problem, static_cast<float*>(arguments.y));
    if (!is_trivial(problem)) product_.run_panel(thread, problem, memory_of(problem, arguments));
  }

 private:
  static bool can_take_weights(const GemmProblem& problem) {
    return problem.batch == 1 && problem.n > 0 && problem.k > 0;
  }

  std::int64_t threads_;
  MicrokernelProduct product_;
};

/// Why the engine leaves a problem to others, "" when it does not.
std::string refusal(const GemmProblem& problem) {
  if (problem.backend != Backend::openmp && problem.backend != Backend::serial)
    return std::string("runs on OpenMP's threads, or on one, not on backend ") +
           name_of(problem.backend);
  if (problem.dtype != DataType::float32 || problem.compute != ComputeMode::f32)
    return std::string("takes f32 in the mode f32, not ") + name_of(problem.dtype) +
           " in the mode " + name_of(problem.compute);
  if (!has_avx512_kernels())
    return "needs x86-64 and GCC or Clang: this build was made for another processor or by another "
           "compiler";
  if (!has_avx512()) return "needs a processor with AVX-512";
  return "";
}

/// Sizes at which the kernels have been measured to be faster than OpenBLAS's, up to 8192x8192.
/// Where x has more than a quarter of w's rows, packing it takes too long.
bool is_measured(const GemmProblem& problem) {
  constexpr std::int64_t fewest = 1024;
  const bool has_columns = problem.n >= fewest && problem.m <= problem.n / 4;
  return (has_columns || problem.is_part) && problem.k >= fewest;
}

class MicrokernelEngine final : public Engine {
 public:
  const char* name() const override { return "microkernel"; }

  EngineAnswer consider(const ExecutionSpace& space, const GemmProblem& problem,
                        const AlgorithmChoice&) const override {
    EngineAnswer answer;
    EngineCandidate& candidate = answer.candidate;
    candidate.name = name();
    candidate.reason = refusal(problem);
    if (!candidate.reason.empty()) return answer;
    const std::int64_t threads = problem.backend == Backend::serial ? 1 : thread_count(space);
    const auto gemm = std::make_shared<const MicrokernelGemm>(problem, threads);
    candidate.accepts = true;
    candidate.reason = "tiles of 6x64 sums in AVX-512";
    candidate.workspace_bytes = gemm->make_ready(problem);
    if (gemm->product().packs_all()) {
      candidate.threads_alone = threads;
      candidate.threads_share_x = true;
    }
    // A BLAS may take all threads on Serial.
    if (problem.backend == Backend::serial) {
      candidate.is_second_choice = true;
      candidate.reason += ", on one thread";
    } else if (!is_measured(problem)) {
      candidate.is_second_choice = true;
      candidate.reason += "; first choice for N and K of 1024 and above, and M of at most N / 4";
    }
    answer.gemm = gemm;
    return answer;
  }
};

}  // namespace

bool is_microkernel_fastest(const GemmProblem& problem) {
  // Of a few rows of x the lanes of a vector stay empty.
  constexpr std::int64_t fewest_rows = 9;
  return refusal(problem).empty() && problem.backend == Backend::openmp && is_measured(problem) &&
         problem.m >= fewest_rows;
}

const Engine& microkernel_engine() {
  static const MicrokernelEngine engine;
  return engine;
}

}  // namespace detail
}  // namespace postlude
