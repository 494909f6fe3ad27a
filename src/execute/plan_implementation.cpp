#include "execute/plan_implementation.hpp"

#include <optional>
#include <string>
#include <utility>

#include <postlude/error.hpp>
#include <postlude/prepared_weights.hpp>

#include "execute/binding.hpp"
#include "execute/memory.hpp"
#include "execute/prepared_weights_implementation.hpp"
#include "execute/problem_shape.hpp"
#include "execute/space_checks.hpp"
#include "gemm/engine_list.hpp"
#include "program/lower.hpp"
#include "sweep/runtime_kernels.hpp"
#include "sweep/sweep.hpp"

namespace postlude {
namespace detail {
namespace {

/// The program of the epilogue for this problem.
Program make_program(const ExecutionSpace& space, const LinearProblem& problem,
                     const Epilogue& epilogue, const std::vector<OperandDeclaration>& operands) {
  const GemmProblem gemm = gemm_problem(space.backend(), problem);
  return lower(epilogue, Shape{gemm.batch, gemm.m, gemm.n}, gemm.k, operands);
}

ExecutionPlan make_plan(const ExecutionSpace& space, const LinearProblem& problem,
                        const Program& program, const PlanOptions& options,
                        std::shared_ptr<const GemmPlan>& chosen) {
  require_kokkos();
  GemmProblem gemm = gemm_problem(space.backend(), problem);
  if (options.layout < ResultLayout::row_major || options.layout > ResultLayout::any)
    throw Error(Status::invalid_argument, "layout is " +
                                              std::to_string(static_cast<int>(options.layout)) +
                                              ": expected a ResultLayout (1 to 3)");
  const auto plan_for = [&](const GemmProblem& asked) {
    ExecutionPlan plan = make_execution_plan(program, asked, options.layout);
    const std::vector<EngineAnswer> answers = consider_engines(space, plan.gemm);
    std::vector<EngineCandidate> candidates;
    for (const EngineAnswer& answer : answers) candidates.push_back(answer.candidate);
    choose_engine(plan, std::move(candidates), options.engine);
    chosen = answers[plan.chosen_engine].gemm;
    return plan;
  };
  ExecutionPlan plan = plan_for(gemm);
  if (plan.y_place == GemmResultPlace::nowhere || !plan.engines[plan.chosen_engine].leaves_factors)
    return plan;
  gemm.has_factors = true;
  try {
    return plan_for(gemm);
  } catch (const Error& error) {
    // A stage may have no room for the factors.
    if (error.status() != Status::unsupported) throw;
    return plan;
  }
}

/// The stage with the dtypes that its operands will most likely have: those of the problem. Others
/// are interpreted.
Stage expected_stage(const ExecutionPlan& plan, const PlannedStage& planned) {
  Tensor tensor;
  tensor.dtype = plan.gemm.dtype;
  const Binding binding("", tensor);
  const std::vector<const Binding*> bindings(plan.program.operands.size(), &binding);
  std::vector<Tensor> outputs;
  for (const ProgramResult& result : plan.program.results) {
    const Value& value = plan.program.values[static_cast<std::size_t>(result.value)];
    outputs.push_back(tensor);
    if (value.is_index()) outputs.back().dtype = DataType::int64;
  }
  return bind_stage(plan, planned, BoundMemory(), bindings, outputs);
}

void compile_stages(const ExecutionPlan& plan, Backend backend, StageCompilation compilation) {
  if (compilation < StageCompilation::automatic || compilation > StageCompilation::always)
    throw Error(Status::invalid_argument, "compilation is " +
                                              std::to_string(static_cast<int>(compilation)) +
                                              ": expected a StageCompilation (0 to 2)");
  if (compilation == StageCompilation::never) return;
  const std::string refusal = runtime_compilation_refusal(backend);
  if (!refusal.empty()) {
    if (compilation == StageCompilation::automatic) return;
    throw Error(Status::unsupported, "compilation is 'always': " + refusal);
  }
  constexpr std::int64_t worthwhile_elements = 1 << 20;
  for (const PlannedStage& stage : plan.stages)
    if (compilation == StageCompilation::always || stage.domain.elements() >= worthwhile_elements)
      compile_stage(backend, stage.sweep, expected_stage(plan, stage), plan.compute_dtype);
}

}  // namespace

PlanImplementation::PlanImplementation(const ExecutionSpace& space, const LinearProblem& problem,
                                       const Epilogue& epilogue,
                                       const std::vector<OperandDeclaration>& operands,
                                       const PlanOptions& options)
    : space_(space),
      problem_(problem),
      program_(make_program(space, problem, epilogue, operands)),
      plan_(make_plan(space, problem, program_, options, gemm_)) {
  problem_.x.data = nullptr;
  problem_.w.data = nullptr;
  compile_stages(plan_, space.backend(), options.compilation);
}

bool PlanImplementation::has_prepared_weights(const Arguments& arguments) {
  return arguments.prepared_weights != nullptr &&
         arguments.prepared_weights->implementation().weights() != nullptr;
}

std::size_t PlanImplementation::workspace_bytes_for(const Arguments& arguments) const {
  return plan_.workspace_bytes - (has_prepared_weights(arguments) ? plan_.weights_bytes : 0);
}

void PlanImplementation::require_backend(const ExecutionSpace& space) const {
  detail::require_backend(space, space_.backend(), "the plan was made for");
}

void PlanImplementation::execute(const ExecutionSpace& space, const Arguments& arguments,
                                 void* workspace, std::size_t workspace_bytes) const {
  require_kokkos();
  require_backend(space);
  const std::vector<const Binding*> bindings =
      validate(space.backend(), arguments, workspace, workspace_bytes);

  std::optional<WorkspacePool::Lease> lease;
  BoundMemory memory;
  memory.workspace = static_cast<char*>(workspace);
  const std::size_t needed = workspace_bytes_for(arguments);
  if (workspace == nullptr && needed > 0) {
    lease.emplace(pool_.acquire(space, needed));
    memory.workspace = static_cast<char*>(lease->data());
  }

  GemmProblem gemm = plan_.gemm;
  if (plan_.y_place == GemmResultPlace::result) {
    const Tensor& holder = arguments.outputs[plan_.y_result];
    gemm.y = strides_of(holder, reading_as(plan_.program.y));
    memory.y = holder.data;
  } else {
    memory.y = memory.workspace + plan_.y_offset;
  }
  memory.y_strides = gemm.y;
  if (plan_.y_place != GemmResultPlace::nowhere)
    gemm_->run(
        space, gemm,
        {arguments.x.data, arguments.w.data, memory.y, memory.workspace + plan_.engine_offset,
         has_prepared_weights(arguments) ? arguments.prepared_weights->implementation().weights()
                                         : nullptr,
         reinterpret_cast<float*>(memory.workspace + plan_.factors_offset[0]),
         reinterpret_cast<float*>(memory.workspace + plan_.factors_offset[1])});

  std::vector<BoundStage> stages;
  stages.reserve(plan_.stages.size());
  for (const PlannedStage& stage : plan_.stages)
    stages.push_back({stage.sweep, stage.joins_previous,
                      bind_stage(plan_, stage, memory, bindings, arguments.outputs),
                      reinterpret_cast<ReductionState*>(memory.workspace + stage.partials_offset)});
  run_stages(space, stages, plan_.compute_dtype);
}

}  // namespace detail
}  // namespace postlude
