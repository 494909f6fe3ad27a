#ifndef POSTLUDE_EXECUTE_ENQUEUE_STAGES_HPP
#define POSTLUDE_EXECUTE_ENQUEUE_STAGES_HPP

#include <cstddef>
#include <vector>

#include <postlude/execution_space.hpp>
#include <postlude/plan.hpp>

#include "execute/binding.hpp"
#include "plan/planner.hpp"
#include "sweep/bound_stage.hpp"

namespace postlude {
namespace detail {

/// All stages of a plan with the addresses of one execution. `bindings` has one for each operand of
/// its program.
std::vector<BoundStage> bind_stages(const ExecutionPlan& plan, const BoundMemory& memory,
                                    const std::vector<const Binding*>& bindings,
                                    const std::vector<Tensor>& outputs);

/// Enqueues the stages `first` to `last` - 1 of a plan, as below.
void enqueue_stages(const ExecutionSpace& space, const ExecutionPlan& plan, std::size_t first,
                    std::size_t last, const BoundMemory& memory,
                    const std::vector<const Binding*>& bindings, const std::vector<Tensor>& outputs,
                    const RunCondition& condition = {});

/// Enqueues all stages of a plan on `space`. `bindings` has one for each operand of its program. On
/// a device they do nothing unless `condition` holds.
void enqueue_stages(const ExecutionSpace& space, const ExecutionPlan& plan,
                    const BoundMemory& memory, const std::vector<const Binding*>& bindings,
                    const std::vector<Tensor>& outputs, const RunCondition& condition = {});

}  // namespace detail
}  // namespace postlude

#endif
