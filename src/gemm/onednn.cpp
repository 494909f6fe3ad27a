#include "gemm/onednn.hpp"

#include <omp.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <postlude/error.hpp>

#include "gemm/empty_sums.hpp"
#include "gemm/matrix_form.hpp"
#include "gemm/microkernel.hpp"
#include "gemm/onednn_matmul.hpp"
#include "gemm/onednn_weights.hpp"
#include "gemm/processor.hpp"
#include "gemm/thread_items.hpp"

namespace postlude {
namespace detail {
namespace {

/// The product that oneDNN computes for a problem of so many matrices.
OneDnnShape shape_of(const GemmProblem& problem, std::int64_t batch, int threads) {
  const MatrixStrides x = plain_strides(problem.m, problem.k, problem.x);
  const MatrixStrides w = plain_strides(problem.n, problem.k, problem.w);
  const MatrixStrides y = plain_strides(problem.m, problem.n, problem.y);
  OneDnnShape shape;
  shape.batch = batch;
  shape.depth = problem.k;
  shape.threads = threads;
  const bool by_columns = has_column_major_y(problem);
  shape.rows = by_columns ? problem.n : problem.m;
  shape.columns = by_columns ? problem.m : problem.n;
  shape.a = by_columns ? w : x;
  shape.b = transposed(by_columns ? x : w);
  shape.c = by_columns ? transposed(y) : y;
  if (batch == 1) shape.a.batch = shape.b.batch = shape.c.batch = 0;
  return shape;
}

/// Whether one primitive may compute the whole batch. oneDNN knows neither batches that run
/// backwards nor results of which all are the same.
bool is_one_product(const GemmProblem& problem) {
  return problem.batch == 1 ||
         (problem.x.batch >= 0 && problem.w.batch >= 0 && problem.y.batch > 0 &&
          (problem.x.batch > 0 || problem.w.batch > 0));
}

/// Rows of y that are computed at a time where they cannot be written in their place: 4 MB.
std::int64_t staged_rows(const GemmProblem& problem) {
  constexpr std::int64_t elements = 1 << 20;
  return std::min(problem.m, std::max<std::int64_t>(elements / problem.n, 1));
}

/// Rows of y, computed without gaps, to their place.
void copy_rows(const GemmProblem& problem, const float* from, const MatrixStrides& strides,
               float* to, int threads) {
#pragma omp parallel for num_threads(threads)
  for (std::int64_t row = 0; row < problem.m; ++row)
    for (std::int64_t column = 0; column < problem.n; ++column)
      to[row * strides.row + column * strides.column] = from[row * problem.n + column];
}

/// A primitive for one shape, or why there is none. One that is made with the plan finds its
/// scratchpad in the workspace. One that is made later, since y lies otherwise or the execution has
/// one thread, may need a larger one: then that is its own, for one execution at a time.
class Variant {
 public:
  explicit Variant(const OneDnnShape& shape) : shape_(shape) {
    try {
      matmul_.emplace(shape);
    } catch (const Error& error) {
      if (error.status() != Status::unsupported) throw;
      refusal_ = error.what();
    }
  }

  const OneDnnShape& shape() const { return shape_; }
  bool is_possible() const { return matmul_.has_value(); }
  bool is_fast() const { return is_possible() && !matmul_->is_reference(); }
  const std::string& refusal() const { return refusal_; }
  const OneDnnMatmul& matmul() const { return *matmul_; }

  void run(const float* a, const float* b, float* c, void* workspace,
           std::size_t workspace_bytes) const {
    if (matmul_->scratchpad_bytes() <= workspace_bytes) return matmul_->run(a, b, c, workspace);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (scratchpad_.empty()) scratchpad_.resize(matmul_->scratchpad_bytes() + alignment);
    void* aligned = scratchpad_.data();
    std::size_t space = scratchpad_.size();
    matmul_->run(a, b, c, std::align(alignment, matmul_->scratchpad_bytes(), aligned, space));
  }

 private:
  static constexpr std::size_t alignment = 64;

  OneDnnShape shape_;
  std::optional<OneDnnMatmul> matmul_;
  std::string refusal_;
  mutable std::mutex mutex_;
  mutable std::vector<char> scratchpad_;
};

/// Executions hold on to theirs.
using VariantPointer = std::shared_ptr<const Variant>;

class OneDnnGemm final : public GemmPlan {
 public:
  /// For a problem, of which y may later be larger: then this is that of a panel. The threads are
  /// kept, so that every execution adds in the same order.
  OneDnnGemm(const GemmProblem& problem, int threads)
      : threads_(threads), columns_(problem.n), is_by_columns_(has_column_major_y(problem)) {}

  std::size_t workspace_bytes() const { return workspace_bytes_; }

  /// Asks oneDNN; says why the problem is left to others, "" when it is not.
  std::string refusal(const GemmProblem& problem) const {
    if (is_trivial(problem)) return "";
    const VariantPointer variant = variant_for(problem, threads_);
    if (!variant->is_possible()) return variant->refusal();
    if (!variant->is_fast())
      return "oneDNN has nothing but plain loops for these strides on this processor";
    workspace_bytes_ = std::max(workspace_bytes_, variant->matmul().scratchpad_bytes());
    return "";
  }

  /// oneDNN's name for the kernels of a problem that it takes, "" where there is nothing to do.
  std::string implementation(const GemmProblem& problem) const {
    return is_trivial(problem) ? "" : variant_for(problem, threads_)->matmul().implementation();
  }

  std::size_t make_ready(const GemmProblem& problem) const override {
    if (refusal(problem).empty() && !is_trivial(problem))
      variant_for(problem, threads_)->matmul().make_ready();
    return workspace_bytes_;
  }

  std::unique_ptr<GemmWeights> make_weights(const ExecutionSpace&,
                                            const GemmProblem& problem) const override {
    if (!can_take_weights(problem)) return nullptr;
    const OneDnnShape shape = shape_of(problem, 1, threads_);
    auto format = wanted_format_of_b(shape);
    if (format == nullptr) return nullptr;
    // Who prepares weights executes next: not then are kernels to be generated.
    OneDnnShape prepared = shape;
    prepared.b = {};
    prepared.b_format = format;
    const VariantPointer variant = locked_variant_for(prepared);
    if (variant->is_fast()) variant->matmul().make_ready();
    return std::make_unique<OneDnnWeights>(shape, std::move(format));
  }

  bool takes(const GemmWeights& weights, const GemmProblem& problem) const override {
    const auto* prepared = dynamic_cast<const OneDnnWeights*>(&weights);
    return prepared != nullptr && prepared->n() == problem.n && prepared->k() == problem.k &&
           can_take_weights(problem);
  }

  bool can_do_without(const GemmWeights& weights) const override {
    return dynamic_cast<const OneDnnWeights*>(&weights) != nullptr;
  }

  void run(const ExecutionSpace&, const GemmProblem& problem,
           const GemmArguments& arguments) const override {
    if (problem.batch == 0 || problem.m == 0 || problem.n == 0) return;
    const auto* x = static_cast<const float*>(arguments.x);
    const auto* w = static_cast<const float*>(arguments.w);
    auto* y = static_cast<float*>(arguments.y);
    if (problem.k == 0) return write_empty_sums(problem, y);
    // In a parallel region of the caller's there are no other threads to be had.
    const int threads = omp_in_parallel() ? 1 : threads_;
    if (arguments.weights != nullptr)
      return run_prepared(problem, x, static_cast<const OneDnnWeights&>(*arguments.weights), y,
                          arguments.workspace, threads);
    const VariantPointer variant = variant_for(problem, threads);
    if (!variant->is_possible()) throw Error(Status::unsupported, variant->refusal());
    const bool by_columns = has_column_major_y(problem);
    for (std::int64_t i = 0; i < problem.batch / variant->shape().batch; ++i) {
      const float* of_x = x + i * problem.x.batch;
      const float* of_w = w + i * problem.w.batch;
      variant->run(by_columns ? of_w : of_x, by_columns ? of_x : of_w, y + i * problem.y.batch,
                   arguments.workspace, workspace_bytes_);
    }
  }

 private:
  /// Of fewer than two rows a product reads w once, and unprepared as fast. A panel of columns
  /// would need a part of the weights, a y with contiguous columns its product the other way round.
  bool can_take_weights(const GemmProblem& problem) const {
    return problem.batch == 1 && problem.m > 1 && problem.n > 0 && problem.k > 0 &&
           problem.n == columns_ && !is_by_columns_;
  }

  void run_prepared(const GemmProblem& problem, const float* x, const OneDnnWeights& weights,
                    float* y, void* workspace, int threads) const {
    const auto prepared = [&](const GemmProblem& part) {
      OneDnnShape shape = shape_of(part, 1, threads);
      shape.b = {};
      shape.b_format = weights.format();
      return shape;
    };
    if (!has_column_major_y(problem)) {
      const VariantPointer variant = locked_variant_for(prepared(problem));
      if (variant->is_fast())
        return variant->run(x, weights.data(), y, workspace, workspace_bytes_);
    }
    // oneDNN's fast kernels take no such y: its rows are computed elsewhere, some at a time.
    const std::int64_t step = staged_rows(problem);
    const std::lock_guard<std::mutex> lock(staging_mutex_);
    staging_.resize(static_cast<std::size_t>(step * problem.n));
    for (std::int64_t row = 0; row < problem.m; row += step) {
      GemmProblem part = problem;
      part.m = std::min(step, problem.m - row);
      part.y = {0, problem.n, 1};
      const VariantPointer variant = locked_variant_for(prepared(part));
      if (!variant->is_possible()) throw Error(Status::unsupported, variant->refusal());
      variant->run(x + row * problem.x.row, weights.data(), staging_.data(), workspace,
                   workspace_bytes_);
      copy_rows(part, staging_.data(), problem.y, y + row * problem.y.row, threads);
    }
  }

  VariantPointer locked_variant_for(const OneDnnShape& shape) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return variant_for(shape);
  }

  /// For the whole batch where oneDNN has fast kernels for it, else for one of its problems.
  VariantPointer variant_for(const GemmProblem& problem, int threads) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (problem.batch > 1 && is_one_product(problem)) {
      VariantPointer whole = variant_for(shape_of(problem, problem.batch, threads));
      if (whole->is_fast()) return whole;
    }
    return variant_for(shape_of(problem, 1, threads));
  }

  /// The variants used last are kept, in this order: a plan may meet results with any number of
  /// leading dimensions.
  VariantPointer variant_for(const OneDnnShape& shape) const {
    constexpr std::size_t most_variants = 16;
    const auto known = std::find_if(variants_.begin(), variants_.end(),
                                    [&](const auto& each) { return each->shape() == shape; });
    if (known != variants_.end()) {
      std::rotate(variants_.begin(), known, known + 1);
      return variants_.front();
    }
    if (variants_.size() == most_variants) variants_.pop_back();
    variants_.insert(variants_.begin(), std::make_shared<const Variant>(shape));
    return variants_.front();
  }

  int threads_;
  std::int64_t columns_;
  bool is_by_columns_;
  // Changed while the plan is made, and by one thread.
  mutable std::size_t workspace_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<VariantPointer> variants_;
  mutable std::mutex staging_mutex_;
  mutable std::vector<float> staging_;
};

/// Threads that compute a GEMM together.
int threads_for(const ExecutionSpace& space) {
  if (space.backend() == Backend::serial) return 1;
  return static_cast<int>(std::min<std::int64_t>(thread_count(space), omp_get_thread_limit()));
}

/// Why the engine leaves a problem to others before oneDNN is asked, "" when it does not.
std::string refusal(const GemmProblem& problem) {
  if (problem.backend != Backend::openmp && problem.backend != Backend::serial)
    return std::string("runs on OpenMP's threads, or on one, not on backend ") +
           name_of(problem.backend);
  if (problem.dtype != DataType::float32 || problem.compute != ComputeMode::f32)
    return std::string("takes f32 in the mode f32, not ") + name_of(problem.dtype) +
           " in the mode " + name_of(problem.compute);
  const BlasMatrix x = blas_form(problem.m, problem.k, problem.x);
  const BlasMatrix w = blas_form(problem.n, problem.k, problem.w);
  if (x.form == MatrixForm::neither) return "x has no unit stride";
  if (w.form == MatrixForm::neither) return "w has no unit stride";
  for (const std::int64_t size :
       {problem.m, problem.n, problem.k, x.leading_dimension, w.leading_dimension})
    if (size > INT_MAX)
      return "sizes and leading dimensions are limited to 2147483647, not " + std::to_string(size);
  return "";
}

/// Whether these kernels have been measured to be faster than OpenBLAS's. By the processor, so that
/// a program gives the same bits in every run.
bool is_known_to_be_faster(const std::string& implementation) {
  const bool is_blocked = implementation.empty() || implementation.rfind("brg", 0) == 0;
  return has_avx512() && (is_blocked || is_from_intel());
}

class OneDnnEngine final : public Engine {
 public:
  const char* name() const override { return "onednn"; }

  EngineAnswer consider(const ExecutionSpace& space, const GemmProblem& problem,
                        const AlgorithmChoice&) const override {
    EngineAnswer answer;
    EngineCandidate& candidate = answer.candidate;
    candidate.name = name();
    candidate.reason = refusal(problem);
    if (!candidate.reason.empty()) return answer;
    const auto gemm = std::make_shared<const OneDnnGemm>(problem, threads_for(space));
    candidate.reason = gemm->refusal(problem);
    if (!candidate.reason.empty()) return answer;
    candidate.accepts = true;
    candidate.workspace_bytes = gemm->workspace_bytes();
    candidate.reason = "oneDNN's matmul";
    const std::string implementation = gemm->implementation(problem);
    if (!implementation.empty()) candidate.reason += ", " + implementation;
    // A BLAS may take all threads on Serial.
    if (problem.backend == Backend::serial) {
      candidate.is_second_choice = true;
      candidate.reason += ", on one thread";
    } else if (is_microkernel_fastest(problem)) {
      candidate.is_second_choice = true;
      candidate.reason += "; microkernel is faster";
    } else if (!is_known_to_be_faster(implementation)) {
      candidate.is_second_choice = true;
      candidate.reason +=
          "; first choice with AVX-512, on other processors than Intel's by brg kernels";
    }
    answer.gemm = gemm;
    return answer;
  }
};

}  // namespace

const Engine& onednn_engine() {
  static const OneDnnEngine engine;
  return engine;
}

}  // namespace detail
}  // namespace postlude
