#include "plan/planner.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <postlude/error.hpp>

#include "evaluator/reducers.hpp"
#include "plan/kept_value.hpp"
#include "plan/stage_builder.hpp"
#include "program/product_factors.hpp"

namespace postlude {
namespace detail {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
}

/// Targets that one sweep can serve together.
struct Group {
  int level = 0;
  Shape domain;
  int dim = -1;  ///< of its reductions, -1 without any
  std::int64_t window_size = 0;
  std::int64_t window_step = 0;
  std::vector<StageTarget> targets;

  int reduction_count() const {
    return static_cast<int>(
        std::count_if(targets.begin(), targets.end(),
                      [](const StageTarget& target) { return target.is_reduction; }));
  }
};

class Planner {
 public:
  Planner(Program program, const GemmProblem& gemm, ResultLayout layout) {
    plan_.program = gemm.has_factors ? with_product_factors(program) : std::move(program);
    plan_.gemm = gemm;
    plan_.compute_dtype = gemm.dtype == DataType::float64 ? DataType::float64 : DataType::float32;
    plan_.layout = layout;
  }

  ExecutionPlan make() {
    find_materialized();
    find_levels();
    collect_reductions();
    collect_materialized();
    collect_results();
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const Group& a, const Group& b) { return a.level < b.level; });
    place_y();
    keep_value();
    build_stages();
    join_lines();
    place_partials();
    return std::move(plan_);
  }

 private:
  const Value& value(int index) const {
    return plan_.program.values[static_cast<std::size_t>(index)];
  }

  /// What a stage computes or looks through on the way to something that it reads.
  static bool is_computed_in_place(const Value& value) {
    return value.kind == NodeKind::pointwise || value.kind == NodeKind::repeat ||
           value.kind == NodeKind::expand;
  }

  /// Whether the columns of a repeated value run through `index` with another factor than
  /// `window`, so that one stage cannot visit both.
  bool has_other_repeat(int index, std::int64_t window) const {
    const Value& each = value(index);
    if (each.kind == NodeKind::repeat && each.factor != window) return true;
    if (!is_computed_in_place(each)) return false;
    return std::any_of(each.inputs.begin(), each.inputs.end(),
                       [&](int input) { return has_other_repeat(input, window); });
  }

  /// Values that a stage writes to the workspace for a later one, although it could compute them
  /// again: what is reduced by windows and read through repeats that do not fit the windows.
  void find_materialized() {
    materialized_.assign(plan_.program.values.size(), false);
    for (const Value& each : plan_.program.values) {
      if (each.kind != NodeKind::reduction || each.window_size == 0) continue;
      const std::int64_t fitting = each.window_size == each.window_step ? each.window_size : 0;
      if (has_other_repeat(each.inputs[0], fitting))
        materialized_[static_cast<std::size_t>(each.inputs[0])] = true;
    }
  }

  /// A value's level is the number of stages on the longest way to it that end in the workspace.
  void find_levels() {
    for (std::size_t i = 0; i < plan_.program.values.size(); ++i) {
      const Value& each = plan_.program.values[i];
      int level = 0;
      for (const int input : each.inputs)
        level = std::max(level, levels_[static_cast<std::size_t>(input)]);
      made_at_.push_back(level);
      levels_.push_back(level + (each.kind == NodeKind::reduction || materialized_[i] ? 1 : 0));
    }
  }

  /// Level from which on a value can be used.
  int level(int index) const { return levels_[static_cast<std::size_t>(index)]; }

  /// Values that some result needs; lowering makes no others, rewrites may leave them behind.
  std::vector<bool> find_needed() const {
    std::vector<bool> needed(plan_.program.values.size(), false);
    for (const ProgramResult& result : plan_.program.results)
      needed[static_cast<std::size_t>(result.value)] = true;
    for (std::size_t i = needed.size(); i-- > 0;)
      if (needed[i])
        for (const int input : plan_.program.values[i].inputs)
          needed[static_cast<std::size_t>(input)] = true;
    return needed;
  }

  /// The results that are exactly this value.
  std::vector<std::size_t> results_of(int index) const {
    std::vector<std::size_t> results;
    for (std::size_t i = 0; i < plan_.program.results.size(); ++i)
      if (plan_.program.results[i].value == index) results.push_back(i);
    return results;
  }

  bool is_used_as_input(int index) const {
    for (const Value& each : plan_.program.values)
      if (std::find(each.inputs.begin(), each.inputs.end(), index) != each.inputs.end())
        return true;
    return false;
  }

  bool inner_is_rows(const Shape& domain) const {
    if (domain.columns == 1) return true;
    if (domain.rows == 1) return false;
    return plan_.layout == ResultLayout::column_major;
  }

  std::size_t reserve(std::size_t bytes) {
    const std::size_t offset = plan_.workspace_bytes;
    plan_.workspace_bytes += aligned(bytes);
    return offset;
  }

  std::size_t bytes_of(const Shape& shape, DataType dtype) const {
    return static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  }

  Group& group_for(const Group& wanted) {
    for (Group& group : groups_) {
      if (group.level != wanted.level || group.domain != wanted.domain || group.dim != wanted.dim ||
          group.window_size != wanted.window_size || group.window_step != wanted.window_step)
        continue;
      if (wanted.dim < 0 || group.reduction_count() < most_reductions(wanted.domain, wanted.dim))
        return group;
    }
    groups_.push_back(wanted);
    return groups_.back();
  }

  bool reduces_inner(const Shape& domain, int dim) const {
    return inner_is_rows(domain) == (dim == 0);
  }

  /// An outer reduction keeps a state for each lane, which leaves registers for one reduction.
  int most_reductions(const Shape& domain, int dim) const {
    return reduces_inner(domain, dim) ? maximum_reductions : 1;
  }

  /// Reductions that the plan keeps go to the workspace, or straight to the result when nothing
  /// else needs them.
  void collect_reductions() {
    const std::vector<bool> needed = find_needed();
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const int index = static_cast<int>(i);
      if (!needed[i] || value(index).kind != NodeKind::reduction) continue;
      const std::vector<std::size_t> results = results_of(index);
      const bool is_used = is_used_as_input(index);
      // A result of its own when nothing else needs the value; an index always, since float32
      // arithmetic would round a large one on the way.
      const bool writes_results = value(index).is_index() || (results.size() == 1 && !is_used);
      if (writes_results) {
        for (const std::size_t result : results) {
          add_reduction(index, {OperandRole::result, result, 0, value(index).shape, true, 1});
          written_by_reduction_.push_back(result);
        }
      }
      if (is_used || !writes_results) {
        // float64 holds every result of every reduction, indices included.
        const std::size_t offset = reserve(bytes_of(value(index).shape, DataType::float64));
        add_reduction(index, {OperandRole::intermediate, 0, offset, value(index).shape, true, 1});
      }
    }
  }

  void add_reduction(int index, const StageOperand& output) {
    StageTarget target;
    target.value = value(index).inputs[0];
    target.is_reduction = true;
    target.reduction = index;
    target.output = output;
    const Value& reduction = value(index);
    group_for({level(target.value),
               value(target.value).shape,
               reduction.dim,
               reduction.window_size,
               reduction.window_step,
               {}})
        .targets.push_back(target);
  }

  void collect_materialized() {
    const std::vector<bool> needed = find_needed();
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i] || !materialized_[i]) continue;
      const int index = static_cast<int>(i);
      const std::size_t offset = reserve(bytes_of(value(index).shape, DataType::float64));
      StageTarget target;
      target.value = index;
      target.output = {OperandRole::intermediate, 0, offset, value(index).shape, true, 1};
      store_group(made_at_[i], value(index).shape).targets.push_back(target);
    }
  }

  void collect_results() {
    for (std::size_t i = 0; i < plan_.program.results.size(); ++i) {
      if (std::find(written_by_reduction_.begin(), written_by_reduction_.end(), i) !=
          written_by_reduction_.end())
        continue;
      const int index = plan_.program.results[i].value;
      StageTarget target;
      target.value = index;
      target.output.role = OperandRole::result;
      target.output.index = i;
      target.output.shape = value(index).shape;
      store_group(level(index), value(index).shape).targets.push_back(target);
    }
  }

  /// A store joins a sweep that visits the same elements anyway.
  Group& store_group(int at_level, const Shape& domain) {
    for (Group& group : groups_)
      if (group.level == at_level && group.domain == domain && group.window_size == 0) return group;
    return group_for({at_level, domain, -1, 0, 0, {}});
  }

  bool reads_y(int index, std::vector<signed char>& known) const {
    signed char& answer = known[static_cast<std::size_t>(index)];
    if (answer >= 0) return answer != 0;
    answer = value(index).kind == NodeKind::gemm_result ? 1 : 0;
    if (is_computed_in_place(value(index)) && !materialized_[static_cast<std::size_t>(index)])
      for (const int input : value(index).inputs)
        if (reads_y(input, known)) answer = 1;
    return answer != 0;
  }

  bool reads_y(const Group& group) const {
    std::vector<signed char> known(plan_.program.values.size(), -1);
    for (const StageTarget& target : group.targets) {
      // The stage that materializes a value reads what the value is made of.
      const bool makes_it = !target.is_reduction && target.output.role == OperandRole::intermediate;
      if (!makes_it && reads_y(target.value, known)) return true;
      if (makes_it)
        for (const int input : value(target.value).inputs)
          if (reads_y(input, known)) return true;
    }
    return false;
  }

  /// y goes to a result that is stored by the last stage that reads y: each element of the result
  /// then overwrites the element of y that it was computed from.
  void place_y() {
    GemmProblem& gemm = plan_.gemm;
    if (!plan_.program.uses_y()) return;
    const bool by_columns = plan_.layout == ResultLayout::column_major;
    if (gemm.has_factors) return place_product(by_columns);
    gemm.y = by_columns ? MatrixStrides{gemm.m * gemm.n, 1, std::max<std::int64_t>(gemm.m, 1)}
                        : MatrixStrides{gemm.m * gemm.n, std::max<std::int64_t>(gemm.n, 1), 1};
    Group* last_reader = nullptr;
    for (Group& group : groups_)
      if (reads_y(group)) last_reader = &group;
    // y is in the type of the arithmetic, which a result of 16-bit floats cannot hold.
    const bool fits_result = plan_.layout != ResultLayout::any && gemm.dtype == plan_.compute_dtype;
    if (last_reader != nullptr && fits_result) {
      auto& targets = last_reader->targets;
      for (std::size_t i = 0; i < targets.size(); ++i) {
        if (targets[i].is_reduction || targets[i].output.role != OperandRole::result ||
            targets[i].output.shape != plan_.program.y || last_reader->domain != plan_.program.y)
          continue;
        plan_.y_place = GemmResultPlace::result;
        plan_.y_result = targets[i].output.index;
        // Last, so that the stage has read y before it overwrites it.
        std::rotate(targets.begin() + static_cast<std::ptrdiff_t>(i),
                    targets.begin() + static_cast<std::ptrdiff_t>(i) + 1, targets.end());
        return;
      }
    }
    plan_.y_place = GemmResultPlace::workspace;
    plan_.y_offset = reserve(bytes_of(plan_.program.y, plan_.compute_dtype));
  }

  /// The product of an engine that leaves factors, whose lines begin on 16 bytes, and the factors.
  void place_product(bool by_columns) {
    GemmProblem& gemm = plan_.gemm;
    const std::int64_t line = ((by_columns ? gemm.m : gemm.n) + 3) / 4 * 4;
    const std::int64_t matrix = line * (by_columns ? gemm.n : gemm.m);
    gemm.y = by_columns ? MatrixStrides{matrix, 1, line} : MatrixStrides{matrix, line, 1};
    plan_.y_place = GemmResultPlace::workspace;
    plan_.y_offset =
        reserve(static_cast<std::size_t>(gemm.batch * matrix) * size_of(plan_.compute_dtype));
    for (std::size_t i = 0; i < plan_.program.values.size(); ++i) {
      if (value(static_cast<int>(i)).kind != NodeKind::gemm_factors) continue;
      const std::size_t offset =
          reserve(bytes_of(value(static_cast<int>(i)).shape, DataType::float32));
      plan_.factors_offset[value(static_cast<int>(i)).dim] = offset;
      intermediates_[static_cast<int>(i)] = offset;
    }
  }

  /// On a host, which computes an element as long as it takes to read it from a cache and longer.
  void keep_value() {
    if (!is_host(plan_.gemm.backend) || plan_.gemm.has_factors) return;
    if (std::find(materialized_.begin(), materialized_.end(), true) != materialized_.end()) return;
    std::vector<VisitedValues> stages;
    for (const Group& group : groups_) {
      stages.push_back({group.domain, group.window_size, {}});
      for (const StageTarget& target : group.targets) stages.back().values.push_back(target.value);
    }
    kept_ = find_kept_value(plan_.program, stages);
  }

  PlannedStage build_group(const StageDomain& domain, SweepKind sweep, std::size_t index,
                           std::vector<StageTarget> targets) {
    const bool reads_kept = kept_.value >= 0 && index > kept_.stage;
    if (kept_.value >= 0 && index == kept_.stage) {
      std::vector<StageTarget> with_kept = targets;
      StageTarget kept;
      kept.value = kept_.value;
      kept.output = {OperandRole::gemm_result, 0, 0, plan_.program.y, true, 1};
      // Last, so that the stage has read y before.
      with_kept.push_back(kept);
      try {
        return build_stage(plan_.program, domain, sweep, with_kept, intermediates_);
      } catch (const Error& error) {
        // There may be no room for one array more.
        if (error.status() != Status::unsupported) throw;
        kept_ = {};
      }
    }
    return build_stage(plan_.program, domain, sweep, targets, intermediates_,
                       reads_kept ? kept_.value : -1);
  }

  /// The result that is y itself, in place, is complete without a stage.
  bool is_in_place_y(const StageTarget& target) const {
    return plan_.y_place == GemmResultPlace::result && !target.is_reduction &&
           target.output.role == OperandRole::result && target.output.index == plan_.y_result &&
           value(target.value).kind == NodeKind::gemm_result;
  }

  void build_stages() {
    for (std::size_t index = 0; index < groups_.size(); ++index) {
      const Group& group = groups_[index];
      std::vector<StageTarget> targets;
      for (const StageTarget& target : group.targets)
        if (!is_in_place_y(target)) targets.push_back(target);
      if (targets.empty()) continue;
      SweepKind sweep = SweepKind::pointwise;
      if (group.dim >= 0)
        sweep = reduces_inner(group.domain, group.dim) ? SweepKind::inner_reduction
                                                       : SweepKind::outer_reduction;
      StageDomain domain{group.domain, inner_is_rows(group.domain), 0, group.window_size,
                         group.window_step};
      if (group.window_size > 0)
        domain.window_count =
            windowed_shape(group.domain, group.window_size, group.window_step).columns;
      plan_.stages.push_back(build_group(domain, sweep, index, targets));
      // From the next stage on these can be read.
      for (const StageTarget& target : targets)
        if (target.output.role == OperandRole::intermediate)
          intermediates_[target.is_reduction ? target.reduction : target.value] =
              target.output.offset;
    }
  }

  void join_lines() {
    for (std::size_t i = 1; i < plan_.stages.size(); ++i)
      plan_.stages[i].joins_previous = works_line_by_line(plan_.stages[i]) &&
                                       works_line_by_line(plan_.stages[i - 1]) &&
                                       has_lines_of(plan_.stages[i], plan_.stages[i - 1]);
  }

  static bool has_lines_of(const PlannedStage& stage, const PlannedStage& other) {
    return stage.inner_is_rows == other.inner_is_rows && stage.stage.batch == other.stage.batch &&
           stage.stage.outer == other.stage.outer;
  }

  /// Whether a line of the results comes from the same line of everything that is read.
  static bool works_line_by_line(const PlannedStage& stage) {
    if (stage.sweep == SweepKind::outer_reduction || stage.window_count > 0) return false;
    // A column that is repeated belongs to several lines where lines are columns.
    return !stage.inner_is_rows ||
           std::all_of(stage.operands.begin(), stage.operands.end(),
                       [](const StageOperand& operand) { return operand.repeat == 1; });
  }

  /// Stages run one after another, so that one area serves the partial results of all.
  void place_partials() {
    std::size_t largest = 0;
    for (PlannedStage& stage : plan_.stages) {
      if (stage.sweep != SweepKind::outer_reduction) continue;
      stage.chunks = chunk_count(stage.stage.outer);
      stage.partials_offset = plan_.workspace_bytes;
      stage.partials_bytes =
          static_cast<std::size_t>(partial_states(stage.stage, is_host(plan_.gemm.backend))) *
          sizeof(ReductionState);
      largest = std::max(largest, stage.partials_bytes);
    }
    reserve(largest);
  }

  ExecutionPlan plan_;
  std::vector<bool> materialized_;
  std::vector<int> made_at_;
  std::vector<int> levels_;
  std::vector<Group> groups_;
  std::vector<std::size_t> written_by_reduction_;
  Intermediates intermediates_;
  KeptValue kept_;
};

}  // namespace

ExecutionPlan make_execution_plan(Program program, const GemmProblem& gemm, ResultLayout layout) {
  return Planner(std::move(program), gemm, layout).make();
}

std::size_t choose_engine(const std::vector<EngineCandidate>& candidates,
                          const std::string& forced) {
  const auto find = [&](bool takes_second) {
    return std::find_if(candidates.begin(), candidates.end(),
                        [&](const EngineCandidate& candidate) {
                          if (!forced.empty()) return candidate.name == forced;
                          return candidate.accepts && (takes_second || !candidate.is_second_choice);
                        });
  };
  auto chosen = find(false);
  if (chosen == candidates.end()) chosen = find(true);
  if (chosen == candidates.end() && !forced.empty()) {
    std::string names;
    for (const EngineCandidate& candidate : candidates)
      names += (names.empty() ? "" : ", ") + candidate.name;
    throw Error(Status::unknown_name,
                "engine is '" + forced.substr(0, 64) + "': expected one of " + names);
  }
  if (chosen == candidates.end() || !chosen->accepts) {
    std::string reasons;
    for (const EngineCandidate& candidate : candidates)
      if (forced.empty() || candidate.name == forced)
        reasons += "\n  " + candidate.name + ": " + candidate.reason;
    throw Error(Status::unsupported, "no engine can compute this linear layer:" + reasons);
  }
  return static_cast<std::size_t>(chosen - candidates.begin());
}

void place_engine(ExecutionPlan& plan, std::vector<EngineCandidate> candidates,
                  std::size_t chosen) {
  plan.engines = std::move(candidates);
  plan.chosen_engine = chosen;
  plan.engine_offset = plan.workspace_bytes;
  plan.workspace_bytes += aligned(plan.engines[chosen].workspace_bytes);
  plan.weights_bytes =
      plan.engines[chosen].weights_bytes / workspace_alignment * workspace_alignment;
}

double gemm_flops(const ExecutionPlan& plan) {
  if (plan.y_place == GemmResultPlace::nowhere) return 0;
  const GemmProblem& gemm = plan.gemm;
  return 2.0 * static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) *
         static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
}

double minimum_bytes(const ExecutionPlan& plan) {
  const GemmProblem& gemm = plan.gemm;
  const auto element = static_cast<double>(size_of(gemm.dtype));
  double elements = 0;
  if (plan.y_place != GemmResultPlace::nowhere) {
    elements +=
        static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) * static_cast<double>(gemm.k);
    elements += static_cast<double>(gemm.w.batch == 0 ? 1 : gemm.batch) *
                static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
  }
  for (const ProgramOperand& operand : plan.program.operands)
    if (operand.is_used && operand.kind != OperandKind::scalar)
      elements += static_cast<double>(operand.shape.elements());
  double bytes = elements * element;
  for (const ProgramResult& result : plan.program.results) {
    const Value& value = plan.program.values[static_cast<std::size_t>(result.value)];
    bytes += static_cast<double>(value.shape.elements()) * (value.is_index() ? 8.0 : element);
  }
  return bytes;
}

}  // namespace detail
}  // namespace postlude
