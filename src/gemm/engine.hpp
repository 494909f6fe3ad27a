#ifndef POSTLUDE_GEMM_ENGINE_HPP
#define POSTLUDE_GEMM_ENGINE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <postlude/execution_space.hpp>

#include "evaluator/stage.hpp"
#include "plan/gemm_problem.hpp"
#include "plan/planned_stage.hpp"
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
  /// Of a panel, in all of y: the row of the weights that its first column is multiplied with.
  std::int64_t first_column = 0;
  /// Where a problem with factors has them: batch x M and batch x N.
  float* row_factors = nullptr;
  float* column_factors = nullptr;
  /// A word in the backend's memory: where it is not 0 when the GEMM's turn comes, the GEMM does
  /// nothing. Null for none; set only where can_skip() says that the engine looks at it.
  const int* unless = nullptr;
};

/// A stage that reads y and visits y's elements.
struct FollowingStage {
  const PlannedStage& planned;
  /// With its addresses; when the plan is made, with the dtypes and strides that are expected.
  const Stage& bound;
  bool keeps_y = false;      ///< y is needed after it: the GEMM has to write y all the same
  bool may_compile = false;  ///< a few seconds may be spent on a kernel of its own
};

/// The first stage that reads y, and stages right after it; never empty.
using FollowingStages = std::vector<FollowingStage>;

/// What a GEMM takes in of the stages that follow it.
struct TakenStages {
  std::string words;      ///< for example "bias"; "" when nothing
  std::size_t count = 1;  ///< of the stages, from the first one on
  std::size_t workspace_bytes = 0;
  /// Why it takes in nothing, or no more, where there is more to say than that it never does.
  std::string refusal;
};

/// What an engine has made ready for one problem when the plan was made: algorithms, descriptors.
/// Immutable; run() may be called from several threads.
class GemmPlan {
 public:
  virtual ~GemmPlan() = default;

  /// Enqueues the GEMM on `space`. Writes every element of y, and both factors where the problem
  /// has them, and reads none of it. `problem` is the one that the plan was made for, but y may
  /// have another leading dimension and batch stride, and on a host the problem may be smaller.
  virtual void run(const ExecutionSpace& space, const GemmProblem& problem,
                   const GemmArguments& arguments) const = 0;

  /// Computes a panel of y on the calling thread of a host alone, the one of this number, while
  /// others do the same. Only for an engine that says so with EngineCandidate::threads_alone.
  virtual void run_on_thread(std::int64_t, const GemmProblem&, const GemmArguments&) const {}

  /// Does before, by all threads, what they share, and leaves it in the workspace. The problem is
  /// that of all of y.
  virtual void share_with_threads(const ExecutionSpace&, const GemmProblem&,
                                  const GemmArguments&) const {}

  /// Makes ready for another, smaller problem that run() will be given, such as the last panel's;
  /// returns the workspace, in bytes, with which run() then computes all that it is ready for.
  /// Called while a plan is made, by one thread.
  virtual std::size_t make_ready(const GemmProblem&) const { return 0; }

  /// Whether run() can be told on the device to do nothing, with GemmArguments::unless.
  virtual bool can_skip() const { return false; }
  /// The same for one run: addresses may ask for a way that cannot.
  virtual bool can_skip(const GemmArguments&) const { return can_skip(); }

  /// Weights for this GEMM, still to be refreshed; null where it uses w as it is.
  virtual std::unique_ptr<GemmWeights> make_weights(const ExecutionSpace&,
                                                    const GemmProblem&) const {
    return nullptr;
  }

  /// Whether run() takes these weights, which another plan may have made.
  virtual bool takes(const GemmWeights&, const GemmProblem&) const { return false; }

  /// Whether run() reads w itself where it does not take these weights, which another plan of its
  /// engine made.
  virtual bool can_do_without(const GemmWeights&) const { return false; }

  /// Whether the GEMM can compute stages that follow it from its sums, how many and of what that
  /// is. Makes ready for them.
  virtual TakenStages take_in(const GemmProblem&, const FollowingStages&) const { return {}; }

  /// Enqueues the GEMM and the whole of these stages, which it has taken in, and writes y only
  /// where the last one keeps it; or does nothing, and returns false, where the stages' operands
  /// are not as take_in() needs them.
  virtual bool run_with(const ExecutionSpace&, const GemmProblem&, const GemmArguments&,
                        const FollowingStages&) const {
    return false;
  }

  /// The library's algorithms that run() takes, for AlgorithmChoice::kept; without spaces at the
  /// ends, "" where there is nothing to choose.
  virtual std::string algorithms() const { return ""; }
};

/// How an engine settles on one of the algorithms that a library proposes for a product. Neither:
/// by the library's own heuristic.
struct AlgorithmChoice {
  bool is_timed = false;  ///< by running them on memory of its own
  std::string kept;       ///< of an earlier plan for the same problem: its GemmPlan::algorithms()
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
  /// workspace, and what it has made ready. Throws Error(invalid_argument) for kept algorithms that
  /// are not of this engine, library and device.
  virtual EngineAnswer consider(const ExecutionSpace& space, const GemmProblem& problem,
                                const AlgorithmChoice& choice) const = 0;
};

}  // namespace detail
}  // namespace postlude

#endif
