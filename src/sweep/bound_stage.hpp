#ifndef POSTLUDE_SWEEP_BOUND_STAGE_HPP
#define POSTLUDE_SWEEP_BOUND_STAGE_HPP

#include "evaluator/reducers.hpp"
#include "evaluator/stage.hpp"
#include "plan/planned_stage.hpp"

namespace postlude {
namespace detail {

/// A stage with all addresses and scalars filled in.
struct BoundStage {
  SweepKind sweep = SweepKind::pointwise;
  bool joins_previous = false;  ///< as in PlannedStage
  Stage stage;
  ReductionState* partials = nullptr;  ///< of an outer reduction: chunk_count(stage.outer) * batch
                                       ///< * inner states
};

}  // namespace detail
}  // namespace postlude

#endif
