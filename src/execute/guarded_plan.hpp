#ifndef POSTLUDE_EXECUTE_GUARDED_PLAN_HPP
#define POSTLUDE_EXECUTE_GUARDED_PLAN_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <postlude/plan.hpp>

#include "execute/tensor_program.hpp"
#include "execute/weight_facts.hpp"
#include "plan/planner.hpp"
#include "program/guarded/guarded_program.hpp"

namespace postlude {
namespace detail {

/// The way of a plan that needs no GEMM, taken in the executions for which it is proved right: when
/// x, w and some operands are small enough that nothing on the way overflows.
///
/// |y| is at most K max|x| max|w|, of which twice is taken, so that rounding is covered. The
/// largest magnitudes are found by one pass over each tensor; that of w, and its sums, are kept
/// with prepared weights. On hosts only, where the answer is known before anything else is
/// enqueued.
class GuardedPlan {
 public:
  GuardedPlan(GuardedProgram guarded, const GemmProblem& gemm, const LinearProblem& problem,
              ResultLayout layout);

  std::size_t workspace_bytes() const { return workspace_bytes_; }
  bool wants_weight_sums() const { return guarded_.sum_over_columns >= 0; }

  /// Runs it if it is right for these arguments, and says whether it did. `bindings` are those of
  /// the plan's operands; `facts` of w may be null.
  bool run(const ExecutionSpace& space, const Arguments& arguments,
           const std::vector<const Binding*>& bindings, const WeightFacts* facts,
           char* workspace) const;

  /// For Plan::explain.
  Shortcut description() const;

 private:
  /// A tensor operand that has to be within the limit.
  struct BoundedOperand {
    std::size_t operand = 0;
    std::int64_t batch = 1;
    TensorProgram largest;
  };

  bool is_proved(const ExecutionSpace& space, const Arguments& arguments,
                 const std::vector<const Binding*>& bindings, const WeightFacts* facts,
                 double* magnitudes, char* scratch) const;
  std::size_t reserve(std::size_t bytes);

  GuardedProgram guarded_;
  GemmProblem gemm_;
  ExecutionPlan plan_;
  std::vector<std::size_t> scalars_;
  std::vector<BoundedOperand> operands_;
  TensorProgram largest_of_x_;
  TensorProgram largest_of_w_;
  std::optional<TensorProgram> sums_of_w_;       ///< over its rows
  std::optional<TensorProgram> y_over_columns_;  ///< x times these
  std::optional<TensorProgram> sums_of_x_;       ///< over its rows
  std::optional<TensorProgram> y_over_rows_;     ///< w times these
  std::size_t magnitudes_offset_ = 0;
  std::size_t sums_of_w_offset_ = 0;
  std::size_t sums_of_x_offset_ = 0;
  std::size_t y_over_columns_offset_ = 0;
  std::size_t y_over_rows_offset_ = 0;
  std::size_t scratch_offset_ = 0;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace detail
}  // namespace postlude

#endif
