#include "execute/enqueue_stages.hpp"

#include "sweep/sweep.hpp"

namespace postlude {
namespace detail {

std::vector<BoundStage> bind_stages(const ExecutionPlan& plan, const BoundMemory& memory,
                                    const std::vector<const Binding*>& bindings,
                                    const std::vector<Tensor>& outputs) {
  std::vector<BoundStage> stages;
  stages.reserve(plan.stages.size());
  for (const PlannedStage& stage : plan.stages)
    stages.push_back({stage.sweep, stage.joins_previous,
                      bind_stage(plan, stage, memory, bindings, outputs),
                      reinterpret_cast<ReductionState*>(memory.workspace + stage.partials_offset)});
  return stages;
}

void enqueue_stages(const ExecutionSpace& space, const ExecutionPlan& plan,
                    const BoundMemory& memory, const std::vector<const Binding*>& bindings,
                    const std::vector<Tensor>& outputs, const RunCondition& condition) {
  std::vector<BoundStage> stages = bind_stages(plan, memory, bindings, outputs);
  for (BoundStage& bound : stages) bound.stage.condition = condition;
  run_stages(space, stages, plan.compute_dtype);
}

}  // namespace detail
}  // namespace postlude
