#ifndef POSTLUDE_PLAN_PLANNER_HPP
#define POSTLUDE_PLAN_PLANNER_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <postlude/problem.hpp>

#include "plan/gemm_problem.hpp"
#include "plan/panels.hpp"
#include "plan/planned_stage.hpp"
#include "program/program.hpp"
#include "program/rewrites/applied_rewrite.hpp"

namespace postlude {
namespace detail {

/// Alignment of the workspace and of everything in it, in bytes.
constexpr std::size_t workspace_alignment = 256;

/// Where y is during an execution.
enum class GemmResultPlace {
  nowhere,  ///< the program does not use y
  result,   ///< in the memory of a result, which is overwritten in place at the end
  workspace
};

/// What an engine answered when it was asked for a problem.
struct EngineCandidate {
  std::string name;
  bool accepts = false;
  /// It is taken by name or as the only one that accepts: it expects another to be faster, or is
  /// not as exact as the mode should be.
  bool is_second_choice = false;
  std::string reason;  ///< why it refuses, or what it does beside the GEMM
  std::size_t workspace_bytes = 0;
  /// Threads of a host that may each compute a GEMM of its own at once; 1 for all of them together.
  std::int64_t threads_alone = 1;
  /// They share what was made of x, so that their panels are of columns of y.
  bool threads_share_x = false;
  /// At the end of its workspace, for w in a format of its own; not needed with prepared weights.
  std::size_t weights_bytes = 0;
  /// What it computes of the first stages that read y, which then need no sweep; "" for nothing.
  std::string taken_in;
  std::string leaves_out;  ///< why it takes in nothing, or no more, where there is a reason
  /// It can leave a product and factors instead of y, which the stages multiply as they read it.
  bool leaves_factors = false;
};

/// A way without the GEMM, for the executions for which a condition holds.
struct Shortcut {
  Program program;
  std::vector<AppliedRewrite> rewrites;
  std::string condition;
  bool is_decided_on_device = false;  ///< else on the host, before anything else is enqueued
  /// That an execution which takes it reads and writes, the proof included.
  double bytes = 0;
  double bytes_with_prepared_weights = 0;
};

/// A program cut into a GEMM and stages, with every piece of workspace placed.
struct ExecutionPlan {
  Program program;
  std::vector<AppliedRewrite> rewrites;  ///< that made it of the program as it was written
  DataType compute_dtype = DataType::float32;
  ResultLayout layout = ResultLayout::row_major;
  GemmProblem gemm;
  GemmResultPlace y_place = GemmResultPlace::nowhere;
  std::size_t y_result = 0;            ///< the result that holds y, for GemmResultPlace::result
  std::size_t y_offset = 0;            ///< bytes from the start of the workspace
  std::size_t factors_offset[2] = {};  ///< of rows and of columns, where the GEMM has factors
  std::vector<PlannedStage> stages;
  Panels panels;  ///< in which a host computes y
  std::vector<EngineCandidate> engines;
  std::size_t chosen_engine = 0;
  std::size_t taken_stage = 0;  ///< the first stage that the engine takes in
  std::size_t taken_count = 0;  ///< of stages that it takes in
  bool keeps_y = true;          ///< y is written although stages are taken in
  std::size_t engine_offset = 0;
  std::optional<Shortcut> shortcut;
  std::string shortcut_refusal;  ///< why there is none where there might be one
  std::size_t workspace_bytes = 0;
  /// Of these, what an execution with prepared weights leaves out.
  std::size_t weights_bytes = 0;
};

/// Whether the engine takes in the stage of this index.
inline bool takes_in(const ExecutionPlan& plan, std::size_t stage) {
  return stage >= plan.taken_stage && stage - plan.taken_stage < plan.taken_count;
}

/// Cuts `program` into stages at its reductions and places y. `gemm` comes without y's strides.
/// With factors, the program is given them. Each value is produced by the earliest stage that can;
/// reductions of one level, domain and dimension share a sweep. Throws Error(unsupported) when a
/// stage would be too large.
ExecutionPlan make_execution_plan(Program program, const GemmProblem& gemm, ResultLayout layout);

/// The first candidate that accepts, before those that expect another to be faster, or the one
/// named `forced`. Throws Error(unknown_name) when no engine has that name and Error(unsupported),
/// with every engine's reason, when none accepts.
std::size_t choose_engine(const std::vector<EngineCandidate>& candidates,
                          const std::string& forced);

/// Settles the plan on one of the candidates and places its workspace.
void place_engine(ExecutionPlan& plan, std::vector<EngineCandidate> candidates, std::size_t chosen);

/// The plan in words; see Plan::explain. `written` is the program before it was rewritten.
std::string explain(const ExecutionPlan& plan, const Program& written);
/// The same in JSON; see Plan::explain_json.
std::string explain_json(const ExecutionPlan& plan, const Program& written);

/// Bytes that the GEMM and the results must move at least: x, w and operands read once, results
/// written once.
double minimum_bytes(const ExecutionPlan& plan);
double gemm_flops(const ExecutionPlan& plan);

}  // namespace detail
}  // namespace postlude

#endif
