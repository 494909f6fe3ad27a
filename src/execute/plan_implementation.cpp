#include "execute/plan_implementation.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <postlude/error.hpp>
#include <postlude/prepared_weights.hpp>

#include "execute/binding.hpp"
#include "execute/contiguous_tensor.hpp"
#include "execute/enqueue_stages.hpp"
#include "execute/guarded_plan.hpp"
#include "execute/memory.hpp"
#include "execute/prepared_weights_implementation.hpp"
#include "execute/problem_shape.hpp"
#include "execute/run_panels.hpp"
#include "execute/space_checks.hpp"
#include "gemm/engine_list.hpp"
#include "gemm/hopper_tile_stages.hpp"
#include "plan/gemm_choice.hpp"
#include "program/guarded/guarded_program.hpp"
#include "program/lower.hpp"
#include "program/rewrites/apply_rewrites.hpp"
#include "sweep/runtime_kernels.hpp"

namespace postlude {
namespace detail {
namespace {

/// The program of the epilogue for this problem.
Program make_program(const ExecutionSpace& space, const LinearProblem& problem,
                     const Epilogue& epilogue, const std::vector<OperandDeclaration>& operands) {
  const GemmProblem gemm = gemm_problem(space.backend(), problem);
  return lower(epilogue, Shape{gemm.batch, gemm.m, gemm.n}, gemm.k, operands);
}

/// The stage with the dtypes and strides that its operands will most likely have: those of the
/// problem, without gaps.
Stage expected_stage(const ExecutionPlan& plan, const PlannedStage& planned) {
  const bool by_columns = plan.layout == ResultLayout::column_major;
  std::vector<Binding> bindings;
  bindings.reserve(plan.program.operands.size());
  std::vector<const Binding*> bound;
  for (const ProgramOperand& operand : plan.program.operands) {
    bindings.emplace_back("",
                          contiguous_tensor(nullptr, plan.gemm.dtype, operand.shape, by_columns));
    bound.push_back(&bindings.back());
  }
  std::vector<Tensor> outputs;
  for (const ProgramResult& result : plan.program.results) {
    const Value& value = plan.program.values[static_cast<std::size_t>(result.value)];
    outputs.push_back(contiguous_tensor(
        nullptr, value.is_index() ? DataType::int64 : plan.gemm.dtype, value.shape, by_columns));
  }
  BoundMemory memory;
  memory.y_strides = plan.gemm.y;
  return bind_stage(plan, planned, memory, bound, outputs);
}

bool reads_y(const PlannedStage& stage) {
  return std::any_of(stage.operands.begin(), stage.operands.end(), [](const StageOperand& operand) {
    return operand.role == OperandRole::gemm_result;
  });
}

/// Whether one of the results is y itself, in the place where the GEMM writes it.
bool has_y_as_result(const ExecutionPlan& plan) {
  if (plan.y_place != GemmResultPlace::result) return false;
  const ProgramResult& result = plan.program.results[plan.y_result];
  return plan.program.values[static_cast<std::size_t>(result.value)].kind == NodeKind::gemm_result;
}

/// What a stage compiled for its own sake has to be worth: a third of a second or more.
constexpr std::int64_t worthwhile_elements = 1 << 20;

/// Whether the options leave room for compiling a stage.
bool may_compile(const PlannedStage& stage, StageCompilation compilation) {
  return compilation == StageCompilation::always ||
         (compilation == StageCompilation::automatic &&
          stage.domain.elements() >= worthwhile_elements);
}

/// The first stage that reads y, where it visits y's elements.
std::vector<PlannedStage>::const_iterator stage_on_y(const ExecutionPlan& plan) {
  const auto stage = std::find_if(plan.stages.begin(), plan.stages.end(), reads_y);
  const bool fits = plan.y_place != GemmResultPlace::nowhere && stage != plan.stages.end() &&
                    stage->domain == plan.program.y;
  return fits ? stage : plan.stages.end();
}

/// Whether an engine may have a kernel made for the stage that follows the GEMM.
bool precedes_stage(const ExecutionPlan& plan, StageCompilation compilation) {
  const auto stage = stage_on_y(plan);
  return stage != plan.stages.end() && tile_refusal(*stage).empty() &&
         may_compile(*stage, compilation) && runtime_compilation_refusal(plan.gemm.backend).empty();
}

/// Lets the chosen engine take in the first stages that read y, where they visit y's elements.
void take_in_stages(ExecutionPlan& plan, const GemmPlan& gemm, StageCompilation compilation) {
  const auto first = stage_on_y(plan);
  if (first == plan.stages.end()) return;
  const auto end = std::find_if(first, plan.stages.cend(), [&](const PlannedStage& stage) {
    return !reads_y(stage) || !(stage.domain == plan.program.y);
  });
  std::vector<Stage> bound;
  bound.reserve(static_cast<std::size_t>(end - first));
  FollowingStages stages;
  for (auto stage = first; stage != end; ++stage) {
    const bool keeps_y =
        has_y_as_result(plan) || std::any_of(stage + 1, plan.stages.cend(), reads_y);
    bound.push_back(expected_stage(plan, *stage));
    stages.push_back({*stage, bound.back(), keeps_y, may_compile(*stage, compilation)});
  }
  const TakenStages taken = gemm.take_in(plan.gemm, stages);
  EngineCandidate& engine = plan.engines[plan.chosen_engine];
  engine.leaves_out = taken.refusal;
  if (taken.words.empty()) return;
  engine.taken_in = taken.words;
  plan.taken_stage = static_cast<std::size_t>(first - plan.stages.cbegin());
  plan.taken_count = taken.count;
  plan.keeps_y = stages[taken.count - 1].keeps_y;
  engine.workspace_bytes = std::max(engine.workspace_bytes, taken.workspace_bytes);
  plan.workspace_bytes = plan.engine_offset;
  place_engine(plan, std::move(plan.engines), plan.chosen_engine);
}

/// The engine that the options ask for, "" for none in particular.
std::string engine_of(const PlanOptions& options, const GemmChoice& kept) {
  if (kept.engine.empty() || options.engine.empty() || options.engine == kept.engine)
    return options.engine.empty() ? kept.engine : options.engine;
  throw Error(Status::invalid_argument, "gemm_choice has the engine '" + kept.engine +
                                            "': expected that of the options, '" +
                                            options.engine.substr(0, 64) + "'");
}

/// Lets the chosen engine make ready for what it will be given.
void make_engine_ready(const ExecutionPlan& plan, EngineAnswer& answer) {
  if (plan.y_place == GemmResultPlace::nowhere) return;
  for (const GemmProblem& gemm : {gemm_of_panel(plan), gemm_of_last_panel(plan)})
    answer.candidate.workspace_bytes =
        std::max(answer.candidate.workspace_bytes, answer.gemm->make_ready(gemm));
}

/// What the engine that was chosen for the whole, of which `whole` was said, says of a panel.
EngineAnswer consider_panel(const ExecutionSpace& space, const ExecutionPlan& plan,
                            std::size_t engine, const EngineCandidate& whole,
                            const AlgorithmChoice& choice) {
  EngineAnswer answer = engine_list()[engine]->consider(space, gemm_of_panel(plan), choice);
  if (!plan.panels.is_by_threads) return answer;
  answer.candidate.reason = whole.reason;
  answer.candidate.is_second_choice = whole.is_second_choice;
  return answer;
}

/// Takes the algorithms of an earlier plan, or times those there are, once it is known what the
/// engine has to compute.
std::shared_ptr<const GemmPlan> settle_algorithms(const ExecutionSpace& space, ExecutionPlan& plan,
                                                  const AlgorithmChoice& choice) {
  const std::size_t chosen = plan.chosen_engine;
  EngineAnswer answer = consider_panel(space, plan, chosen, plan.engines[chosen], choice);
  if (!choice.kept.empty() && answer.gemm->algorithms().empty())
    throw Error(Status::invalid_argument, "gemm_choice has algorithms '" +
                                              choice.kept.substr(0, 64) + "': the engine " +
                                              answer.candidate.name + " has none to choose from");
  make_engine_ready(plan, answer);
  plan.engines[chosen] = answer.candidate;
  plan.workspace_bytes = plan.engine_offset;
  place_engine(plan, std::move(plan.engines), chosen);
  return answer.gemm;
}

std::vector<EngineCandidate> candidates_of(const std::vector<EngineAnswer>& answers) {
  std::vector<EngineCandidate> candidates;
  for (const EngineAnswer& answer : answers) candidates.push_back(answer.candidate);
  return candidates;
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
  const GemmChoice kept =
      options.gemm_choice.empty() ? GemmChoice() : parse_gemm_choice(options.gemm_choice);
  const std::string engine = engine_of(options, kept);
  const DataType arithmetic =
      gemm.dtype == DataType::float64 ? DataType::float64 : DataType::float32;
  const RewrittenProgram rewritten =
      apply_rewrites(program, arithmetic, rewrites_left_out(options.without_rewrites));
  const auto plan_for = [&](const GemmProblem& asked) {
    ExecutionPlan plan = make_execution_plan(rewritten.program, asked, options.layout);
    plan.rewrites = rewritten.applied;
    plan.gemm.precedes_stage = precedes_stage(plan, options.compilation);
    std::vector<EngineAnswer> answers = consider_engines(space, plan.gemm);
    std::size_t index = choose_engine(candidates_of(answers), engine);
    cut_into_panels(plan, answers[index].candidate);
    if (plan.panels.is_by_threads) {
      // For no other engine than the one whose threads they are.
      answers[index] =
          consider_panel(space, plan, index, answers[index].candidate, AlgorithmChoice());
    } else if (plan.panels.cut != PanelCut::none) {
      answers = consider_engines(space, gemm_of_panel(plan));
      index = choose_engine(candidates_of(answers), engine);
    }
    make_engine_ready(plan, answers[index]);
    std::vector<EngineCandidate> candidates = candidates_of(answers);
    place_engine(plan, std::move(candidates), index);
    chosen = answers[index].gemm;
    return plan;
  };
  ExecutionPlan plan = plan_for(gemm);
  if (plan.y_place != GemmResultPlace::nowhere && plan.engines[plan.chosen_engine].leaves_factors) {
    gemm.has_factors = true;
    try {
      plan = plan_for(gemm);
    } catch (const Error& error) {
      // A stage may have no room for the factors: the plan stays as it is.
      if (error.status() != Status::unsupported) throw;
    }
  }
  if (!kept.engine.empty() && kept.problem != text_of(plan.gemm))
    throw Error(Status::invalid_argument, "gemm_choice is for '" + kept.problem.substr(0, 200) +
                                              "': the problem is '" + text_of(plan.gemm) + "'");
  if (options.autotune || !kept.algorithms.empty())
    chosen = settle_algorithms(space, plan, {options.autotune, kept.algorithms});
  take_in_stages(plan, *chosen, options.compilation);
  return plan;
}

/// Why an engine's plan can have no way without the GEMM beside it, "" when it can.
std::string shortcut_refusal(const ExecutionPlan& plan, const GemmPlan& gemm) {
  if (is_reachable(plan.gemm.backend, MemorySpace::host)) return "";
  if (plan.gemm.backend != Backend::cuda)
    return std::string("there is none on backend ") + name_of(plan.gemm.backend);
  if (gemm.can_skip()) return "";
  return "it would be decided on the device, and the engine " +
         plan.engines[plan.chosen_engine].name + " cannot be told there to do nothing";
}

/// The way without the GEMM, where there is one that is worth asking for; null otherwise.
std::shared_ptr<const GuardedPlan> make_guarded_plan(ExecutionPlan& plan, const GemmPlan& gemm,
                                                     const PlanOptions& options) {
  // Of a few rows the GEMM reads w once, which is no more than the proof does.
  constexpr std::int64_t fewest_rows = 4;
  if (plan.gemm.batch * plan.gemm.m < fewest_rows) return nullptr;
  std::optional<GuardedProgram> guarded = find_guarded_program(
      plan.program, plan.compute_dtype, rewrites_left_out(options.without_rewrites));
  if (!guarded) return nullptr;
  plan.shortcut_refusal = shortcut_refusal(plan, gemm);
  if (!plan.shortcut_refusal.empty()) return nullptr;
  try {
    return std::make_shared<const GuardedPlan>(std::move(*guarded), plan.gemm, options.layout);
  } catch (const Error& error) {
    // A stage may have no room for the sums.
    if (error.status() != Status::unsupported) throw;
    return nullptr;
  }
}

void compile_worthwhile(const ExecutionPlan& plan, Backend backend, StageCompilation compilation) {
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
  std::vector<SweptStage> stages;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const PlannedStage& stage = plan.stages[i];
    // What the GEMM takes in needs a sweep only where its operands are not as they are expected.
    if (takes_in(plan, i) && compilation == StageCompilation::automatic) continue;
    if (may_compile(stage, compilation))
      stages.push_back({stage.sweep, expected_stage(plan, stage)});
  }
  compile_stages(backend, stages, plan.compute_dtype);
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
  compile_worthwhile(plan_, space.backend(), options.compilation);
  guarded_ = make_guarded_plan(plan_, *gemm_, options);
  if (guarded_ == nullptr) return;
  compile_worthwhile(guarded_->plan(), space.backend(), options.compilation);
  plan_.shortcut = guarded_->description();
  // The two ways use the same memory one after the other, behind the decision between them.
  const std::size_t prepared =
      std::max(plan_.workspace_bytes - plan_.weights_bytes, guarded_->workspace_bytes());
  plan_.workspace_bytes =
      guarded_->decision_bytes() + std::max(plan_.workspace_bytes, guarded_->workspace_bytes());
  plan_.weights_bytes = plan_.workspace_bytes - guarded_->decision_bytes() - prepared;
}

const GemmWeights* PlanImplementation::weights_for(const Arguments& arguments) const {
  if (arguments.prepared_weights == nullptr) return nullptr;
  const GemmWeights* const weights = arguments.prepared_weights->implementation().weights();
  return weights != nullptr && gemm_->takes(*weights, plan_.gemm) ? weights : nullptr;
}

std::size_t PlanImplementation::workspace_bytes_with(const GemmWeights* weights) const {
  return plan_.workspace_bytes - (weights != nullptr ? plan_.weights_bytes : 0);
}

std::string PlanImplementation::gemm_choice() const {
  return to_text(
      {plan_.engines[plan_.chosen_engine].name, text_of(plan_.gemm), gemm_->algorithms()});
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
  const GemmWeights* const weights = weights_for(arguments);
  const std::size_t needed = workspace_bytes_with(weights);
  if (workspace == nullptr && needed > 0) {
    lease.emplace(pool_.acquire(space, needed));
    memory.workspace = static_cast<char*>(lease->data());
  }

  char* const start = memory.workspace;
  if (guarded_ != nullptr) memory.workspace += guarded_->decision_bytes();
  GemmProblem gemm = plan_.gemm;
  if (plan_.y_place == GemmResultPlace::result) {
    const Tensor& holder = arguments.outputs[plan_.y_result];
    gemm.y = strides_of(holder, reading_as(plan_.program.y));
    memory.y = holder.data;
  } else {
    memory.y = memory.workspace + plan_.y_offset;
  }
  memory.y_strides = gemm.y;
  GemmArguments gemm_arguments;
  gemm_arguments.x = arguments.x.data;
  gemm_arguments.w = arguments.w.data;
  gemm_arguments.y = memory.y;
  gemm_arguments.workspace = memory.workspace + plan_.engine_offset;
  gemm_arguments.weights = weights;
  gemm_arguments.row_factors = reinterpret_cast<float*>(memory.workspace + plan_.factors_offset[0]);
  gemm_arguments.column_factors =
      reinterpret_cast<float*>(memory.workspace + plan_.factors_offset[1]);

  if (guarded_ != nullptr && (guarded_->decision_bytes() == 0 || gemm_->can_skip(gemm_arguments))) {
    const WeightFacts* facts = arguments.prepared_weights == nullptr
                                   ? nullptr
                                   : arguments.prepared_weights->implementation().facts();
    const GuardOutcome outcome = guarded_->run(space, arguments, bindings, facts, start);
    if (outcome.is_done) return;
    gemm_arguments.unless = outcome.decision;
  }
  const RunCondition condition = {gemm_arguments.unless, 0};
  const auto enqueue = [&](std::size_t first, std::size_t last) {
    enqueue_stages(space, plan_, first, last, memory, bindings, arguments.outputs, condition);
  };
  std::size_t next = 0;
  if (plan_.taken_count > 0) {
    next = plan_.taken_stage;
    const std::size_t end = next + plan_.taken_count;
    enqueue(0, next);
    std::vector<Stage> bound;
    bound.reserve(plan_.taken_count);  // stages refer to its elements
    FollowingStages stages;
    stages.reserve(plan_.taken_count);
    for (std::size_t i = next; i < end; ++i) {
      bound.push_back(bind_stage(plan_, plan_.stages[i], memory, bindings, arguments.outputs));
      bound.back().condition = condition;
      stages.push_back({plan_.stages[i], bound.back(), plan_.keeps_y, false});
    }
    if (gemm_->run_with(space, gemm, gemm_arguments, stages))
      return enqueue(end, plan_.stages.size());
  }
  if (plan_.panels.cut != PanelCut::none)
    return run_in_panels(space, plan_, *gemm_, gemm, gemm_arguments, memory, bindings,
                         arguments.outputs);
  if (plan_.y_place != GemmResultPlace::nowhere) gemm_->run(space, gemm, gemm_arguments);
  enqueue(next, plan_.stages.size());
}

}  // namespace detail
}  // namespace postlude
