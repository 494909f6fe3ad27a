#ifndef POSTLUDE_SWEEP_SWEEP_HPP
#define POSTLUDE_SWEEP_SWEEP_HPP

#include <postlude/data_type.hpp>
#include <postlude/execution_space.hpp>

#include "evaluator/reducers.hpp"
#include "evaluator/stage.hpp"
#include "plan/planned_stage.hpp"

namespace postlude {
namespace detail {

/// Enqueues one stage on `space`.
///
/// @param stage    with all addresses and scalars filled in.
/// @param compute  float32 or float64, the type of the arithmetic.
/// @param partials for an outer reduction, chunk_count(stage.outer) * batch * inner states.
void run_stage(const ExecutionSpace& space, SweepKind kind, const Stage& stage, DataType compute,
               ReductionState* partials);

}  // namespace detail
}  // namespace postlude

#endif
