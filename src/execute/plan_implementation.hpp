#ifndef POSTLUDE_EXECUTE_PLAN_IMPLEMENTATION_HPP
#define POSTLUDE_EXECUTE_PLAN_IMPLEMENTATION_HPP

#include <cstddef>
#include <memory>
#include <vector>

#include <postlude/plan.hpp>

#include "execute/guarded_plan.hpp"
#include "execute/workspace_pool.hpp"
#include "gemm/engine.hpp"
#include "plan/planner.hpp"

namespace postlude {
namespace detail {

/// What stands behind a Plan.
class PlanImplementation {
 public:
  PlanImplementation(const ExecutionSpace& space, const LinearProblem& problem,
                     const Epilogue& epilogue, const std::vector<OperandDeclaration>& operands,
                     const PlanOptions& options);

  void execute(const ExecutionSpace& space, const Arguments& arguments, void* workspace,
               std::size_t workspace_bytes) const;

  /// Throws Error(invalid_argument) for an instance of another backend than the plan's.
  void require_backend(const ExecutionSpace& space) const;

  /// Throws the Error that execute() would for these arguments; `backend` decides which memory can
  /// be reached. Returns the binding of each operand of the program, which is one of `arguments`.
  std::vector<const Binding*> validate(Backend backend, const Arguments& arguments,
                                       const void* workspace, std::size_t workspace_bytes) const;

  /// The prepared weights that an execution uses instead of w, null for none.
  const GemmWeights* weights_for(const Arguments& arguments) const;
  /// Bytes of workspace that an execution with these weights, or null, needs.
  std::size_t workspace_bytes_with(const GemmWeights* weights) const;

  /// See Plan::gemm_choice.
  std::string gemm_choice() const;

  const GemmPlan& gemm() const { return *gemm_; }
  const ExecutionSpace& space() const { return space_; }
  const LinearProblem& problem() const { return problem_; }
  const ExecutionPlan& plan() const { return plan_; }
  /// The program as it was written; plan().program is what is executed: rewritten, and with y
  /// multiplied together from what the engine leaves where it leaves factors.
  const Program& program() const { return program_; }
  /// The way without the GEMM, null where there is none.
  const GuardedPlan* guarded() const { return guarded_.get(); }

 private:
  ExecutionSpace space_;
  LinearProblem problem_;
  Program program_;
  std::shared_ptr<const GemmPlan> gemm_;  ///< of the chosen engine; set while plan_ is made
  ExecutionPlan plan_;
  std::shared_ptr<const GuardedPlan> guarded_;
  mutable WorkspacePool pool_;
};

}  // namespace detail
}  // namespace postlude

#endif
