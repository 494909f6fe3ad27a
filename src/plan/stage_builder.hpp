#ifndef POSTLUDE_PLAN_STAGE_BUILDER_HPP
#define POSTLUDE_PLAN_STAGE_BUILDER_HPP

#include <cstddef>
#include <map>
#include <vector>

#include "plan/planned_stage.hpp"
#include "program/program.hpp"

namespace postlude {
namespace detail {

/// A value that a stage must produce: stored in a result, or reduced into a result or into the
/// workspace.
struct StageTarget {
  int value = -1;  ///< the value to evaluate over the domain
  bool is_reduction = false;
  int reduction = -1;   ///< the reduction value fed by it
  StageOperand output;  ///< where the stored or reduced value goes
};

/// Where the values of earlier stages are: byte offset in the workspace, by value index.
using Intermediates = std::map<int, std::size_t>;

/// What a stage visits.
struct StageDomain {
  Shape shape;
  bool inner_is_rows = false;
  /// For a reduction over parts of dim 1: their number, size and distance; 0 otherwise.
  std::int64_t window_count = 0;
  std::int64_t window_size = 0;
  std::int64_t window_step = 0;
};

/// Compiles the values that `targets` need into instructions over the domain.
///
/// Values of earlier stages are read from the workspace, and `kept` from where y was; everything
/// else is computed again from y and the operands, so that no other full-size intermediate is ever
/// written. Throws Error(unsupported)
/// when the stage holds more instructions, scalars, operands or live values than a Stage can.
PlannedStage build_stage(const Program& program, const StageDomain& domain, SweepKind sweep,
                         const std::vector<StageTarget>& targets,
                         const Intermediates& intermediates, int kept = -1);

}  // namespace detail
}  // namespace postlude

#endif
