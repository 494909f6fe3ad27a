#ifndef POSTLUDE_EXECUTE_GUARDED_PLAN_HPP
#define POSTLUDE_EXECUTE_GUARDED_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <postlude/plan.hpp>

#include "execute/guard_condition.hpp"
#include "execute/matrix_pass.hpp"
#include "execute/weight_facts.hpp"
#include "plan/planner.hpp"
#include "program/guarded/guarded_program.hpp"

namespace postlude {
namespace detail {

/// What became of an execution's shortcut.
struct GuardOutcome {
  bool is_done = false;  ///< it was taken: nothing is left to be done
  /// Enqueued, and decided on the device: the word is 1 there when the shortcut was taken, and 0
  /// when the full path has to run. Null where nothing is enqueued.
  const int* decision = nullptr;
};

/// The way of a plan that needs no GEMM, taken in the executions for which it is proved right: when
/// x, w and some operands are small enough that nothing on the way overflows.
///
/// |y| is at most K max|x| max|w|, of which twice is taken, so that rounding is covered. The
/// largest magnitudes are found by one pass over each tensor, which makes the sums too that the
/// program needs; the magnitudes of w, and its sums, are kept with prepared weights.
///
/// On a host the answer is known before anything else is enqueued. On CUDA it is a word in memory,
/// which everything that is enqueued afterwards looks at: the host does not wait for it.
class GuardedPlan {
 public:
  GuardedPlan(GuardedProgram guarded, const GemmProblem& gemm, ResultLayout layout);

  /// Behind decision_bytes().
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// In front of all workspace, which the full path leaves alone.
  std::size_t decision_bytes() const { return is_on_device_ ? workspace_alignment : 0; }
  bool wants_weight_sums() const { return guarded_.sum_over_columns >= 0; }
  const ExecutionPlan& plan() const { return plan_; }

  /// Runs it if it is right for these arguments. `bindings` are those of the plan's operands;
  /// `facts` of w may be null.
  GuardOutcome run(const ExecutionSpace& space, const Arguments& arguments,
                   const std::vector<const Binding*>& bindings, const WeightFacts* facts,
                   char* workspace) const;

  /// For Plan::explain.
  Shortcut description() const;

 private:
  /// A pass and its places in the workspace.
  struct PlacedPass {
    MatrixPass pass;
    std::size_t magnitudes_offset = 0;
    std::size_t partials_offset = 0;
    std::size_t sums_offset = 0;
  };

  class Execution;

  PlacedPass place(const MatrixPass& pass);
  std::size_t reserve(std::size_t bytes);
  bool runs_with_decision() const;

  GuardedProgram guarded_;
  GemmProblem gemm_;
  bool is_on_device_;
  ExecutionPlan plan_;
  GuardCondition condition_;
  std::vector<std::size_t> scalars_;  ///< operands that have to be within the limit
  std::vector<std::size_t> tensors_;  ///< the same
  PlacedPass sums_of_w_;              ///< over its rows, or none
  PlacedPass x_;                      ///< its products with these, or no sums
  PlacedPass sums_of_x_;              ///< over its rows
  PlacedPass w_;                      ///< its products with these
  std::size_t operands_offset_ = 0;
  std::size_t scratch_offset_ = 0;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace detail
}  // namespace postlude

#endif
