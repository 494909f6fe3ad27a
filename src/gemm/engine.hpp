#ifndef POSTLUDE_GEMM_ENGINE_HPP
#define POSTLUDE_GEMM_ENGINE_HPP

#include <cstddef>
#include <memory>

#include <postlude/execution_space.hpp>

#include "plan/gemm_problem.hpp"
#include "plan/planner.hpp"

namespace postlude {
namespace detail {

/// w in the format of an engine, in the backend's memory. run() of several plans may use it at
/// once.
class GemmWeights {
 public:
  virtual ~GemmWeights() = default;

  /// Of memory that it holds.
  virtual std::size_t bytes() const = 0;

  /// Prepares w, of the same extents, anew. Complete on return.
  virtual void refresh(const ExecutionSpace& space, const void* w,
                       const MatrixStrides& strides) = 0;
};

/// Addresses for one run of a GEMM, in memory of the backend.
struct GemmArguments {
  const void* x = nullptr;
  const void* w = nullptr;
  void* y = nullptr;
  void* workspace = nullptr;  ///< of the size that the engine asked for
  /// Prepared from w, which may then be null; null to use w itself.
  const GemmWeights* weights = nullptr;
  /// Where a problem with factors has them: batch x M and batch x N.
  float* row_factors = nullptr;
  float* column_factors = nullptr;
};

/// What an engine has made ready for one problem when the plan was made: algorithms, descriptors.
/// Immutable; run() may be called from several threads.
class GemmPlan {
 public:
  virtual ~GemmPlan() = default;

  /// Enqueues the GEMM on `space`. Writes every element of y, and both factors where the problem
  /// has them, and reads none of it. `problem` is the one that the plan was made for, but y may
  /// have another leading dimension and batch stride.
  virtual void run(const ExecutionSpace& space, const GemmProblem& problem,
                   const GemmArguments& arguments) const = 0;

  /// Weights for this GEMM, still to be refreshed; null where it uses w as it is.
  virtual std::unique_ptr<GemmWeights> make_weights(const ExecutionSpace&,
                                                    const GemmProblem&) const {
    return nullptr;
  }

  /// Whether run() takes these weights, which another plan may have made.
  virtual bool takes(const GemmWeights&, const GemmProblem&) const { return false; }
};

/// What an engine says of a problem.
struct EngineAnswer {
  EngineCandidate candidate;
  std::shared_ptr<const GemmPlan> gemm;  ///< null when it refuses
};

/// One way to compute y[b,m,n] = sum_k x[b,m,k] * w[b,n,k]. Engines are stateless singletons.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual const char* name() const = 0;

  /// Whether the engine computes this problem on the device of `space`, the reason or a remark, its
  /// workspace, and what it has made ready.
  virtual EngineAnswer consider(const ExecutionSpace& space, const GemmProblem& problem) const = 0;
};

}  // namespace detail
}  // namespace postlude

#endif
