#include "execute/enqueue_stages.hpp"

#include "sweep/sweep.hpp"

namespace postlude {
namespace detail {
namespace {

BoundStage bind_one(const ExecutionPlan& plan, const PlannedStage& stage, const BoundMemory& memory,
                    const std::vector<const Binding*>& bindings,
                    const std::vector<Tensor>& outputs) {
  return {stage.sweep, stage.joins_previous, bind_stage(plan, stage, memory, bindings, outputs),
          reinterpret_cast<ReductionState*>(memory.workspace + stage.partials_offset)};
}

}  // namespace

std::vector<BoundStage> bind_stages(const ExecutionPlan& plan, const BoundMemory& memory,
                                    const std::vector<const Binding*>& bindings,
                                    const std::vector<Tensor>& outputs) {
  std::vector<BoundStage> stages;
  stages.reserve(plan.stages.size());
  for (const PlannedStage& stage : plan.stages)
    stages.push_back(bind_one(plan, stage, memory, bindings, outputs));
  return stages;
}

void enqueue_stages(const ExecutionSpace& space, const ExecutionPlan& plan, std::size_t first,
                    std::size_t last, const BoundMemory& memory,
                    const std::vector<const Binding*>& bindings, const std::vector<Tensor>& outputs,
                    const RunCondition& condition) {
  if (first == last) return;
  std::vector<BoundStage> stages;
  stages.reserve(last - first);
  for (std::size_t i = first; i < last; ++i) {
    stages.push_back(bind_one(plan, plan.stages[i], memory, bindings, outputs));
    stages.back().stage.condition = condition;
  }
  run_stages(space, stages, plan.compute_dtype);
}

void enqueue_stages(const ExecutionSpace& space, const ExecutionPlan& plan,
                    const BoundMemory& memory, const std::vector<const Binding*>& bindings,
                    const std::vector<Tensor>& outputs, const RunCondition& condition) {
  enqueue_stages(space, plan, 0, plan.stages.size(), memory, bindings, outputs, condition);
}

}  // namespace detail
}  // namespace postlude
