#ifndef POSTLUDE_GEMM_ENGINE_HPP
#define POSTLUDE_GEMM_ENGINE_HPP

#include <postlude/execution_space.hpp>

#include "plan/gemm_problem.hpp"
#include "plan/planner.hpp"

namespace postlude {
namespace detail {

/// Addresses for one run of an engine, in memory of the backend.
struct GemmArguments {
  const void* x = nullptr;
  const void* w = nullptr;
  void* y = nullptr;
  void* workspace = nullptr;  ///< of the size that consider() asked for
};

/// One way to compute y[b,m,n] = sum_k x[b,m,k] * w[b,n,k].
///
/// Engines are stateless singletons; run() may be called from several threads.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual const char* name() const = 0;

  /// Whether the engine computes this problem, the reason or a remark, and its workspace.
  virtual EngineCandidate consider(const GemmProblem& problem) const = 0;

  /// Enqueues the GEMM on `space`. Writes every element of y and reads none of it. Only called with
  /// problems that consider() accepted.
  virtual void run(const ExecutionSpace& space, const GemmProblem& problem,
                   const GemmArguments& arguments) const = 0;
};

}  // namespace detail
}  // namespace postlude

#endif
