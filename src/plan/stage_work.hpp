#ifndef POSTLUDE_PLAN_STAGE_WORK_HPP
#define POSTLUDE_PLAN_STAGE_WORK_HPP

#include <string>

#include "plan/planner.hpp"

namespace postlude {
namespace detail {

// What `explain` says of a stage, in text and in JSON.

const char* sweep_name(SweepKind kind);
/// What an operand is called: y, a name of the program, or a place in the workspace.
std::string operand_name(const ExecutionPlan& plan, const StageOperand& operand);
/// Bytes that the stage reads and writes, each element once.
double stage_bytes(const ExecutionPlan& plan, const PlannedStage& stage);
/// Operations on all elements of its domain.
double stage_flops(const PlannedStage& stage);
/// Where y is.
std::string y_text(const ExecutionPlan& plan);

}  // namespace detail
}  // namespace postlude

#endif
