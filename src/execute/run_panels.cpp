#include "execute/run_panels.hpp"

#include <cstdint>

#include "execute/enqueue_stages.hpp"
#include "gemm/thread_items.hpp"
#include "sweep/sweep.hpp"

namespace postlude {
namespace detail {
namespace {

/// Elements from the first of an array to the first of a panel.
std::int64_t offset_of(const OperandAccess& access, const PlannedStage& planned,
                       const Panel& panel) {
  const bool is_windowed = planned.window_count > 0;
  std::int64_t of_row = access.stride_outer;
  if (planned.inner_is_rows)
    of_row = access.stride_inner;
  else if (is_windowed)
    of_row = access.stride_part;
  const std::int64_t of_column = planned.inner_is_rows ? access.stride_outer : access.stride_inner;
  std::int64_t offset = panel.batch * access.stride_batch + panel.row * of_row;
  if (panel.column != 0) offset += panel.column * of_column;
  return offset;
}

/// The stage on one panel.
BoundStage cut_stage(BoundStage bound, const ExecutionPlan& plan, const PlannedStage& planned,
                     const Panel& panel) {
  cut_domain(bound.stage, planned, plan, panel);
  for (std::size_t i = 0; i < planned.operands.size(); ++i) {
    const StageOperand& operand = planned.operands[i];
    // Of these there is one panel, the one at hand.
    const bool is_y_at_hand =
        operand.role == OperandRole::gemm_result && plan.y_place == GemmResultPlace::workspace;
    if (is_y_at_hand || operand.is_of_panel) continue;
    OperandAccess& access = bound.stage.operands[i];
    const std::int64_t offset = offset_of(access, planned, panel);
    // The index of its first element is all that positions have for an address.
    const std::int64_t element = operand.role == OperandRole::position
                                     ? 1
                                     : static_cast<std::int64_t>(size_of(access.dtype));
    access.data = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(access.data) +
                                          static_cast<std::uintptr_t>(offset * element));
  }
  return bound;
}

const void* moved(const void* data, DataType dtype, std::int64_t elements) {
  return data == nullptr ? nullptr
                         : static_cast<const char*>(data) +
                               elements * static_cast<std::int64_t>(size_of(dtype));
}

/// The GEMM of a panel: the engine's problem, and where it finds and leaves what.
struct PanelGemm {
  GemmProblem problem;
  GemmArguments arguments;
};

PanelGemm cut_gemm(const ExecutionPlan& plan, GemmProblem gemm, GemmArguments arguments,
                   const Panel& panel) {
  arguments.x = moved(arguments.x, gemm.dtype, panel.batch * gemm.x.batch + panel.row * gemm.x.row);
  arguments.w =
      moved(arguments.w, gemm.dtype, panel.batch * gemm.w.batch + panel.column * gemm.w.row);
  if (plan.y_place == GemmResultPlace::result)
    arguments.y =
        static_cast<char*>(arguments.y) +
        (panel.batch * gemm.y.batch + panel.row * gemm.y.row + panel.column * gemm.y.column) *
            static_cast<std::int64_t>(size_of(plan.compute_dtype));
  arguments.first_column = panel.column;
  gemm.batch = panel.batches;
  gemm.m = panel.rows;
  gemm.n = panel.columns;
  return {gemm, arguments};
}

/// The stages of a phase, in order.
std::vector<std::size_t> stages_of(const ExecutionPlan& plan, StagePhase phase) {
  std::vector<std::size_t> stages;
  for (std::size_t i = 0; i < plan.stages.size(); ++i)
    if (plan.panels.phases[i] == phase) stages.push_back(i);
  return stages;
}

/// Panels, one after another, each computed by all threads.
void run_one_by_one(const ExecutionSpace& space, const ExecutionPlan& plan, const GemmPlan& engine,
                    const GemmProblem& gemm, const GemmArguments& arguments,
                    const std::vector<BoundStage>& bound) {
  const std::vector<std::size_t> indices = stages_of(plan, StagePhase::panel);
  std::vector<BoundStage> stages(indices.size());
  for (const Panel& panel : panels_of(plan)) {
    const PanelGemm part = cut_gemm(plan, gemm, arguments, panel);
    engine.run(space, part.problem, part.arguments);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      stages[i] = cut_stage(bound[indices[i]], plan, plan.stages[indices[i]], panel);
      stages[i].joins_previous =
          stages[i].joins_previous && i > 0 && indices[i - 1] + 1 == indices[i];
    }
    run_stages(space, stages, plan.compute_dtype);
  }
}

/// Panels at once, each computed by one thread from the GEMM to the last stage.
void run_by_threads(const ExecutionSpace& space, const ExecutionPlan& plan, const GemmPlan& engine,
                    const GemmProblem& gemm, const GemmArguments& arguments,
                    const std::vector<BoundStage>& bound) {
  const std::vector<std::size_t> indices = stages_of(plan, StagePhase::panel);
  const std::vector<Panel> panels = panels_of(plan);
  // Made here, since a thread may not throw.
  std::vector<std::vector<BoundStage>> stages(static_cast<std::size_t>(plan.panels.threads),
                                              std::vector<BoundStage>(indices.size()));
  const auto work = [&](std::int64_t thread, std::int64_t item) {
    const Panel& panel = panels[static_cast<std::size_t>(item)];
    const auto place = static_cast<std::size_t>(thread);
    PanelGemm part = cut_gemm(plan, gemm, arguments, panel);
    const bool is_own_y = plan.y_place == GemmResultPlace::workspace;
    if (is_own_y)
      part.arguments.y =
          static_cast<char*>(part.arguments.y) + place * plan.panels.y_bytes_of_thread;
    engine.run_on_thread(thread, part.problem, part.arguments);
    std::vector<BoundStage>& own = stages[place];
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const PlannedStage& planned = plan.stages[indices[i]];
      own[i] = cut_stage(bound[indices[i]], plan, planned, panel);
      own[i].partials = reinterpret_cast<ReductionState*>(
          reinterpret_cast<char*>(own[i].partials) + place * plan.panels.partials_bytes_of_thread);
      for (std::size_t k = 0; k < planned.operands.size(); ++k)
        if (is_own_y && planned.operands[k].role == OperandRole::gemm_result)
          own[i].stage.operands[k].data = part.arguments.y;
    }
    run_stages_on_thread(own, plan.compute_dtype);
  };
  engine.share_with_threads(space, gemm, arguments);
  for_each_on_threads(plan.panels.threads, static_cast<std::int64_t>(panels.size()), work);
}

}  // namespace

void run_in_panels(const ExecutionSpace& space, const ExecutionPlan& plan, const GemmPlan& engine,
                   const GemmProblem& gemm, const GemmArguments& arguments,
                   const BoundMemory& memory, const std::vector<const Binding*>& bindings,
                   const std::vector<Tensor>& outputs) {
  const std::vector<BoundStage> bound = bind_stages(plan, memory, bindings, outputs);
  const auto run_once = [&](StagePhase phase) {
    std::vector<BoundStage> stages;
    for (const std::size_t i : stages_of(plan, phase)) {
      stages.push_back(bound[i]);
      // Lines are joined where no other stage stood between.
      if (i == 0 || plan.panels.phases[i - 1] != phase) stages.back().joins_previous = false;
    }
    run_stages(space, stages, plan.compute_dtype);
  };
  run_once(StagePhase::before);
  if (plan.panels.is_by_threads)
    run_by_threads(space, plan, engine, gemm, arguments, bound);
  else
    run_one_by_one(space, plan, engine, gemm, arguments, bound);
  run_once(StagePhase::after);
}

}  // namespace detail
}  // namespace postlude
