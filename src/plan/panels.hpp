#ifndef POSTLUDE_PLAN_PANELS_HPP
#define POSTLUDE_PLAN_PANELS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "evaluator/stage.hpp"
#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

struct EngineCandidate;
struct ExecutionPlan;
struct PlannedStage;

/// The dimension of y along which it is cut into panels.
enum class PanelCut { none, batch, rows, columns };

/// When a stage runs, where y is computed in panels.
enum class StagePhase {
  before,  ///< once, before the first panel: it needs nothing of y
  panel,   ///< on each panel, right after the panel's GEMM
  after    ///< once, when all panels are complete
};

/// How an execution on a host computes y: panel by panel, each followed by the stages that read y,
/// so that they find it in a cache and all of y need not be held.
struct Panels {
  PanelCut cut = PanelCut::none;
  std::int64_t size = 0;              ///< batches, rows or columns of a panel; the last has fewer
  bool is_by_threads = false;         ///< each panel is one thread's work, its GEMM included
  std::int64_t threads = 1;           ///< that have room in the workspace for a panel each
  std::size_t y_bytes_of_thread = 0;  ///< of the workspace
  std::size_t partials_bytes_of_thread = 0;  ///< of the workspace
  std::vector<StagePhase> phases;            ///< of each stage; empty without panels
  std::string reason;  ///< why y is held whole although it is large; "" otherwise
};

/// A part of y.
struct Panel {
  std::int64_t batch = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t batches = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// What decides the sizes of panels, in bytes of y.
struct PanelLimits {
  /// A panel of so much, and the stages after it, stay in the caches of a processor.
  std::size_t cached_bytes = std::size_t(8) << 20;
  /// A thread computes panels of its own where no more rows or columns than these are multiplied
  /// with each of the others: there a GEMM of all threads spends its time on packing and waiting.
  std::int64_t most_lines_by_threads = 256;
  std::int64_t lines_of_thread = 128;  ///< of a thread's panel, about
  /// y is not held whole in the workspace when it takes more. A panel of rows may take as much; one
  /// of columns half of it, since a GEMM loses little there.
  std::size_t most_bytes = std::size_t(32) << 20;
  /// What an execution may need beside its inputs and results.
  std::size_t workspace_bytes = std::size_t(64) << 20;
};

/// The limits of this process, read when a plan is made. Tests change them.
PanelLimits& panel_limits();

/// Rows or columns of the panel that one of `threads` threads computes alone, where y has `lines`
/// of them and `crossed` of the other kind; 0 where all threads had better compute one GEMM
/// together.
std::int64_t lines_by_threads(std::int64_t lines, std::int64_t crossed, std::int64_t threads);

/// Cuts y of a plan for a host into panels where its stages allow it, and where y is large or the
/// panels pay, and places the workspace again. `engine` is the one that computes the GEMM. To be
/// called once, before the engine is placed.
void cut_into_panels(ExecutionPlan& plan, const EngineCandidate& engine);

/// The panels of a plan that has some, in order.
std::vector<Panel> panels_of(const ExecutionPlan& plan);

/// The largest GEMM of a plan: that of its first panel, or of all of y where it is not cut.
GemmProblem gemm_of_panel(const ExecutionPlan& plan);
/// That of the last panel, which may have fewer batches, rows or columns.
GemmProblem gemm_of_last_panel(const ExecutionPlan& plan);

/// The domain of a stage that runs on panels, cut down to one. Addresses stay as they are.
void cut_domain(Stage& stage, const PlannedStage& planned, const ExecutionPlan& plan,
                const Panel& panel);

/// "4 panels of 256 rows"; "" without panels.
std::string describe_panels(const ExecutionPlan& plan);

}  // namespace detail
}  // namespace postlude

#endif
