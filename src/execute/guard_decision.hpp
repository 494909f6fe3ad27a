#ifndef POSTLUDE_EXECUTE_GUARD_DECISION_HPP
#define POSTLUDE_EXECUTE_GUARD_DECISION_HPP

#include "evaluator/stage.hpp"
#include "execute/guard_condition.hpp"
#include "execute/matrix_pass.hpp"

namespace postlude {
namespace detail {

/// What is decided for one execution of a guarded plan, and what has to be ready by then.
struct GuardDecision {
  GuardCondition condition;
  Magnitudes x;
  Magnitudes w;
  Magnitudes operands;
  ChunkedSums sums[2];  ///< that the program without the GEMM reads
  /// On a device, all of that program, to be run with the decision; null where it is run
  /// afterwards.
  const Stage* stage = nullptr;
  int* is_proved = nullptr;  ///< on a device: 1 or 0 afterwards
};

}  // namespace detail
}  // namespace postlude

#endif
