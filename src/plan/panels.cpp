#include "plan/panels.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "evaluator/quotient_up.hpp"
#include "evaluator/reducers.hpp"
#include "plan/planner.hpp"

namespace postlude {
namespace detail {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
}

bool reduces(const PlannedStage& stage, int dim) {
  switch (stage.sweep) {
    case SweepKind::pointwise:
      return false;
    case SweepKind::inner_reduction:
      return stage.inner_is_rows == (dim == 0);
    case SweepKind::outer_reduction:
      return stage.inner_is_rows == (dim == 1);
  }
  return false;
}

/// Whether the stage on a part of y makes that part of what it makes on all of y.
bool can_run_on(const PlannedStage& stage, const Shape& y, PanelCut cut) {
  if (stage.domain.batch != y.batch) return false;
  switch (cut) {
    case PanelCut::none:
    case PanelCut::batch:
      return true;
    case PanelCut::rows:
      // Windows lie along the columns.
      return stage.domain.rows == y.rows && (stage.window_count > 0 || !reduces(stage, 0));
    case PanelCut::columns:
      return stage.domain.columns == y.columns && stage.window_count == 0 && !reduces(stage, 1) &&
             std::all_of(stage.operands.begin(), stage.operands.end(),
                         [](const StageOperand& operand) { return operand.repeat == 1; });
  }
  return false;
}

const char* name_of_lines(PanelCut cut) {
  switch (cut) {
    case PanelCut::rows:
      return "rows";
    case PanelCut::columns:
      return "columns";
    case PanelCut::batch:
      return "problems";
    case PanelCut::none:
      break;
  }
  return "";
}

struct Phases {
  std::vector<StagePhase> of_stages;
  std::string obstacle;  ///< why there are none
};

/// When each stage runs if y is cut so.
Phases phases_for(const ExecutionPlan& plan, PanelCut cut) {
  Phases phases;
  std::map<std::size_t, StagePhase> made;  // intermediates, by their place
  for (const PlannedStage& stage : plan.stages) {
    const std::string name = "stage " + std::to_string(phases.of_stages.size() + 1);
    bool reads_y = false;
    StagePhase inputs = StagePhase::before;
    for (const StageOperand& operand : stage.operands) {
      if (operand.is_written) continue;
      if (operand.role == OperandRole::gemm_result) reads_y = true;
      if (operand.role == OperandRole::intermediate)
        inputs = std::max(inputs, made.at(operand.offset));
    }
    const bool can_run = can_run_on(stage, plan.program.y, cut);
    StagePhase phase = StagePhase::after;
    if (reads_y) {
      if (!can_run) phases.obstacle = name + " takes all " + name_of_lines(cut) + " together";
      if (inputs == StagePhase::after)
        phases.obstacle = name + " needs y and what comes of all its " + name_of_lines(cut);
      if (!phases.obstacle.empty()) return phases;
      phase = StagePhase::panel;
    } else if (inputs == StagePhase::before) {
      phase = StagePhase::before;
    } else if (inputs == StagePhase::panel && can_run) {
      phase = StagePhase::panel;
    }
    for (const StageOperand& operand : stage.operands)
      if (operand.is_written && operand.role == OperandRole::intermediate)
        made[operand.offset] = phase;
    phases.of_stages.push_back(phase);
  }
  return phases;
}

/// One way to cut y.
struct Choice {
  PanelCut cut = PanelCut::none;
  std::int64_t size = 0;
  std::int64_t count = 1;
  bool is_by_threads = false;
  double packed_again = 0;  ///< elements of x or w that the GEMM of another panel packs once more
  std::vector<StagePhase> phases;
};

class PanelPlanner {
 public:
  PanelPlanner(ExecutionPlan& plan, const EngineCandidate& engine)
      : plan_(plan), threads_(engine.threads_alone), threads_share_x_(engine.threads_share_x) {
    const PanelLimits& limits = panel_limits();
    // Small things, and partial results of reductions.
    const std::size_t others = limits.workspace_bytes / 8 + engine.workspace_bytes;
    most_bytes_ = std::min(limits.most_bytes,
                           limits.workspace_bytes > others ? limits.workspace_bytes - others : 0);
    cached_bytes_ = std::min(limits.cached_bytes, most_bytes_);
  }

  void cut() {
    if (std::optional<Choice> choice = choice_by_threads()) return settle(std::move(*choice));
    const std::size_t y_bytes =
        static_cast<std::size_t>(plan_.program.y.elements()) * element_bytes();
    if (std::max(y_bytes, plan_.workspace_bytes) <= cached_bytes_) return;
    std::string obstacles;
    std::optional<Choice> best;
    for (const PanelCut cut : {PanelCut::batch, PanelCut::columns, PanelCut::rows}) {
      if (extent(cut) < 2) continue;
      Choice choice = choice_for(cut);
      if (choice.count < 2) continue;
      Phases phases = phases_for(plan_, cut);
      if (!phases.obstacle.empty()) {
        obstacles += (obstacles.empty() ? "" : ", ") + phases.obstacle;
        continue;
      }
      choice.phases = std::move(phases.of_stages);
      if (!best || is_better(choice, *best)) best = std::move(choice);
    }
    if (best) return settle(std::move(*best));
    if (plan_.workspace_bytes > most_bytes_ + cached_bytes_)
      plan_.panels.reason = obstacles.empty() ? "it is one row and one column" : obstacles;
  }

 private:
  const GemmProblem& gemm() const { return plan_.gemm; }
  bool is_in_workspace() const { return plan_.y_place == GemmResultPlace::workspace; }
  std::size_t element_bytes() const { return size_of(plan_.compute_dtype); }
  std::int64_t extent(PanelCut cut) const {
    return cut == PanelCut::batch ? gemm().batch : cut == PanelCut::rows ? gemm().m : gemm().n;
  }
  /// Elements of y in one batch, row or column of a panel.
  std::int64_t line(PanelCut cut) const {
    return cut == PanelCut::batch  ? gemm().m * gemm().n
           : cut == PanelCut::rows ? gemm().n
                                   : gemm().m;
  }
  static std::int64_t lines_in(std::size_t bytes, std::size_t of_line) {
    return std::max<std::int64_t>(
        static_cast<std::int64_t>(bytes / std::max<std::size_t>(of_line, 1)), 1);
  }

  /// Bytes of the workspace for one line of a panel: of y where no result holds it, and of values
  /// that stages leave for later ones on the same panel.
  std::size_t workspace_of_line(PanelCut cut) const {
    std::size_t bytes =
        is_in_workspace() ? static_cast<std::size_t>(line(cut)) * element_bytes() : 0;
    if (cut == PanelCut::columns) return bytes;
    for (const PlannedStage& stage : plan_.stages)
      for (const StageOperand& operand : stage.operands) {
        const Shape& shape = operand.shape;
        if (!operand.is_written || operand.role != OperandRole::intermediate) continue;
        if (cut == PanelCut::rows && shape.rows == gemm().m)
          bytes += static_cast<std::size_t>(shape.columns) * sizeof(double);
        if (cut == PanelCut::batch && shape.batch == gemm().batch)
          bytes += static_cast<std::size_t>(shape.rows * shape.columns) * sizeof(double);
      }
    return bytes;
  }

  /// Lines of a panel when y is cut so. The GEMM of another panel packs what is not cut once more,
  /// at the cost of some reads and writes for each multiplication of a line, while a sweep that
  /// finds y in a cache saves as many for each sum of K products: panels pay from about K lines on.
  std::int64_t wanted_lines(PanelCut cut) const {
    const std::size_t of_y = static_cast<std::size_t>(line(cut)) * element_bytes();
    const std::size_t of_workspace = workspace_of_line(cut);
    const std::size_t most = cut == PanelCut::columns ? most_bytes_ / 2 : most_bytes_;
    const std::int64_t cached = lines_in(cached_bytes_, of_y);
    const std::int64_t fitting = lines_in(most, of_workspace);
    if (cut == PanelCut::batch) return std::min(cached, fitting);
    if (!is_in_workspace() && fitting >= extent(cut))
      return cached >= gemm().k ? cached : extent(cut);
    return std::min(std::max(cached, gemm().k), fitting);
  }

  Choice choice_for(PanelCut cut) const {
    Choice choice;
    choice.cut = cut;
    const std::int64_t all = extent(cut);
    const std::int64_t wanted = std::min(wanted_lines(cut), all);
    // Panels of the same size, as GEMMs like it.
    constexpr std::int64_t round = 16;
    choice.size = quotient_up(all, quotient_up(all, wanted));
    if (choice.size >= 4 * round) choice.size = quotient_up(choice.size, round) * round;
    choice.count = quotient_up(all, choice.size);
    if (cut == PanelCut::batch) return choice;
    const std::int64_t again = choice.count * gemm().batch - gemm().batch;
    choice.packed_again = static_cast<double>(again) * static_cast<double>(gemm().k) *
                          static_cast<double>(cut == PanelCut::rows ? gemm().n : gemm().m);
    if (choice.count > 1 || gemm().batch == 1) return choice;
    // One matrix of the batch at a time.
    choice.count = gemm().batch;
    return choice;
  }

  /// Panels for one thread each.
  std::optional<Choice> choice_by_threads() const {
    if (gemm().batch > 1) return std::nullopt;
    for (const PanelCut cut : {PanelCut::columns, PanelCut::rows}) {
      if (cut == PanelCut::rows && threads_share_x_) continue;
      Choice choice;
      choice.cut = cut;
      choice.is_by_threads = true;
      choice.size = lines_by_threads(extent(cut), line(cut), threads_);
      if (choice.size == 0) continue;
      Phases phases = phases_for(plan_, cut);
      if (!phases.obstacle.empty()) continue;
      choice.phases = std::move(phases.of_stages);
      // What stages leave for later ones is kept whole.
      std::size_t bytes = static_cast<std::size_t>(threads_) * panel_bytes(choice);
      bytes += workspace_of_line(PanelCut::batch);
      if (bytes <= most_bytes_) return choice;
    }
    return std::nullopt;
  }

  std::size_t panel_bytes(const Choice& choice) const {
    return static_cast<std::size_t>(choice.size) * workspace_of_line(choice.cut);
  }

  bool is_better(const Choice& choice, const Choice& other) const {
    const bool fits = panel_bytes(choice) <= most_bytes_;
    if (fits != (panel_bytes(other) <= most_bytes_)) return fits;
    return choice.packed_again < other.packed_again;
  }

  void settle(Choice choice) {
    plan_.panels.cut = choice.cut;
    plan_.panels.size = choice.size;
    plan_.panels.is_by_threads = choice.is_by_threads;
    plan_.panels.threads = choice.is_by_threads ? threads_ : 1;
    plan_.panels.phases = std::move(choice.phases);
    place();
  }

  /// Places the pieces of the workspace again, of which some hold one panel only.
  void place() {
    plan_.workspace_bytes = 0;
    const std::map<std::size_t, bool> is_used_after = find_used_after();
    std::map<std::size_t, std::size_t> moved;
    const Panel panel = panels_of(plan_).front();
    for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
      for (StageOperand& operand : plan_.stages[i].operands) {
        if (operand.role != OperandRole::intermediate) continue;
        const std::size_t before = operand.offset;
        if (operand.is_written) {
          const bool is_of_panel = plan_.panels.phases[i] == StagePhase::panel &&
                                   plan_.panels.cut != PanelCut::columns &&
                                   !plan_.panels.is_by_threads && !is_used_after.at(before);
          Shape held = operand.shape;
          if (is_of_panel) {
            held.batch = panel.batches;
            held.rows = std::min(held.rows, panel.rows);
          }
          moved[before] = reserve(static_cast<std::size_t>(held.elements()) * sizeof(double));
          is_of_panel_[before] = is_of_panel;
        }
        operand.is_of_panel = is_of_panel_.at(before);
        operand.offset = moved.at(before);
      }
    }
    if (is_in_workspace()) {
      MatrixStrides& y = plan_.gemm.y;
      const bool by_columns = plan_.layout == ResultLayout::column_major;
      const std::int64_t matrix = panel.rows * panel.columns;
      y = by_columns ? MatrixStrides{matrix, 1, panel.rows}
                     : MatrixStrides{matrix, panel.columns, 1};
      plan_.panels.y_bytes_of_thread =
          aligned(static_cast<std::size_t>(panel.batches * matrix) * element_bytes());
      plan_.y_offset =
          reserve(static_cast<std::size_t>(plan_.panels.threads) * plan_.panels.y_bytes_of_thread);
    }
    place_partials(panel);
  }

  /// Of each intermediate, whether a stage reads it that does not run on panels.
  std::map<std::size_t, bool> find_used_after() const {
    std::map<std::size_t, bool> used;
    for (std::size_t i = 0; i < plan_.stages.size(); ++i)
      for (const StageOperand& operand : plan_.stages[i].operands)
        if (operand.role == OperandRole::intermediate)
          used[operand.offset] =
              used[operand.offset] ||
              (!operand.is_written && plan_.panels.phases[i] != StagePhase::panel);
    return used;
  }

  void place_partials(const Panel& panel) {
    std::size_t largest = 0;
    for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
      PlannedStage& stage = plan_.stages[i];
      if (stage.sweep != SweepKind::outer_reduction) continue;
      Stage cut = stage.stage;
      if (plan_.panels.phases[i] == StagePhase::panel) cut_domain(cut, stage, plan_, panel);
      stage.partials_offset = plan_.workspace_bytes;
      stage.partials_bytes =
          static_cast<std::size_t>(partial_states(cut, true)) * sizeof(ReductionState);
      largest = std::max(largest, stage.partials_bytes);
    }
    plan_.panels.partials_bytes_of_thread = aligned(largest);
    reserve(static_cast<std::size_t>(plan_.panels.threads) * aligned(largest));
  }

  std::size_t reserve(std::size_t bytes) {
    const std::size_t offset = plan_.workspace_bytes;
    plan_.workspace_bytes += aligned(bytes);
    return offset;
  }

  ExecutionPlan& plan_;
  std::int64_t threads_;
  bool threads_share_x_;
  std::size_t most_bytes_ = 0;
  std::size_t cached_bytes_ = 0;
  std::map<std::size_t, bool> is_of_panel_;
};

GemmProblem cut_down(GemmProblem gemm, const Panel& panel) {
  gemm.is_part = panel.columns < gemm.n;
  gemm.batch = panel.batches;
  gemm.m = panel.rows;
  gemm.n = panel.columns;
  return gemm;
}

}  // namespace

PanelLimits& panel_limits() {
  static PanelLimits limits;
  return limits;
}

std::int64_t lines_by_threads(std::int64_t lines, std::int64_t crossed, std::int64_t threads) {
  const PanelLimits& limits = panel_limits();
  // Of a few rows a GEMM reads w once, which a BLAS does better by itself.
  constexpr std::int64_t fewest_crossed = 16;
  constexpr std::int64_t round = 16;
  if (threads < 2 || crossed < fewest_crossed || crossed > limits.most_lines_by_threads) return 0;
  const std::int64_t rounds = quotient_up(lines, threads * limits.lines_of_thread);
  const std::int64_t size = quotient_up(quotient_up(lines, rounds * threads), round) * round;
  return size < limits.lines_of_thread / 4 ? 0 : size;
}

void cut_into_panels(ExecutionPlan& plan, const EngineCandidate& engine) {
  const Shape& y = plan.program.y;
  if (!is_host(plan.gemm.backend) || plan.y_place == GemmResultPlace::nowhere ||
      plan.gemm.has_factors || y.elements() == 0)
    return;
  PanelPlanner(plan, engine).cut();
}

std::vector<Panel> panels_of(const ExecutionPlan& plan) {
  const GemmProblem& gemm = plan.gemm;
  const PanelCut cut = plan.panels.cut;
  std::vector<Panel> panels;
  if (cut == PanelCut::none) return panels;
  if (cut == PanelCut::batch) {
    for (std::int64_t batch = 0; batch < gemm.batch; batch += plan.panels.size)
      panels.push_back(
          {batch, 0, 0, std::min(plan.panels.size, gemm.batch - batch), gemm.m, gemm.n});
    return panels;
  }
  for (std::int64_t batch = 0; batch < gemm.batch; ++batch) {
    if (cut == PanelCut::rows)
      for (std::int64_t row = 0; row < gemm.m; row += plan.panels.size)
        panels.push_back({batch, row, 0, 1, std::min(plan.panels.size, gemm.m - row), gemm.n});
    else
      for (std::int64_t column = 0; column < gemm.n; column += plan.panels.size)
        panels.push_back(
            {batch, 0, column, 1, gemm.m, std::min(plan.panels.size, gemm.n - column)});
  }
  return panels;
}

GemmProblem gemm_of_panel(const ExecutionPlan& plan) {
  return plan.panels.cut == PanelCut::none ? plan.gemm
                                           : cut_down(plan.gemm, panels_of(plan).front());
}

GemmProblem gemm_of_last_panel(const ExecutionPlan& plan) {
  return plan.panels.cut == PanelCut::none ? plan.gemm
                                           : cut_down(plan.gemm, panels_of(plan).back());
}

void cut_domain(Stage& stage, const PlannedStage& planned, const ExecutionPlan& plan,
                const Panel& panel) {
  const bool is_windowed = planned.window_count > 0;
  if (plan.panels.cut == PanelCut::rows) {
    if (planned.inner_is_rows)
      stage.inner = panel.rows;
    else if (is_windowed)
      stage.parts = panel.rows;
    else
      stage.outer = panel.rows;
  }
  if (plan.panels.cut == PanelCut::columns)
    (planned.inner_is_rows ? stage.outer : stage.inner) = panel.columns;
  stage.batch = panel.batches * stage.parts;
}

std::string describe_panels(const ExecutionPlan& plan) {
  if (plan.panels.cut == PanelCut::none) return "";
  return std::to_string(panels_of(plan).size()) + " panels of " + std::to_string(plan.panels.size) +
         " " + name_of_lines(plan.panels.cut) +
         (plan.panels.is_by_threads ? ", each by one thread" : "");
}

}  // namespace detail
}  // namespace postlude
