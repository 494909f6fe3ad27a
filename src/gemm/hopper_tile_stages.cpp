#include "gemm/hopper_tile_stages.hpp"

#include <algorithm>

namespace postlude {
namespace detail {
namespace {

bool is_windowed(const PlannedStage& planned) { return planned.window_count > 0; }

/// Whether windows lie side by side, and none is in two tiles unless it is made of whole ones.
/// Those of one column are not told from what has a column for each (set_strides() in
/// execute/binding.cpp).
bool has_fitting_windows(const PlannedStage& planned) {
  const std::int64_t size = planned.window_size;
  return planned.window_step == size && size > 1 &&
         (hopper_rows % size == 0 || size % hopper_rows == 0);
}

const StageOperand* written_by(const PlannedStage& planned, const StageOperand& read) {
  const auto written = std::find_if(
      planned.operands.begin(), planned.operands.end(), [&](const StageOperand& operand) {
        return operand.is_written && operand.role == read.role && operand.offset == read.offset;
      });
  return written == planned.operands.end() ? nullptr : &*written;
}

/// Whether the elements of a tile need of an operand only what the same tile has.
bool stays_in_tile(const PlannedStage& next, const StageOperand& read, const PlannedStage& other) {
  if (written_by(other, read) == nullptr) return true;
  // Each tile has whole lines, or each element of y reads what its own window has become.
  return next.domain.columns <= hopper_rows ||
         (is_windowed(other) && read.repeat == other.window_size);
}

}  // namespace

HopperTileStage tile_stage_of(const PlannedStage& planned) {
  const auto y = std::find_if(
      planned.operands.begin(), planned.operands.end(),
      [](const StageOperand& operand) { return operand.role == OperandRole::gemm_result; });
  HopperTileStage stage;
  stage.sweep = planned.sweep;
  stage.y = static_cast<int>(y - planned.operands.begin());
  stage.window = is_windowed(planned) ? planned.window_size : 0;
  stage.inner = planned.stage.inner;
  return stage;
}

std::string tile_refusal(const PlannedStage& planned) {
  if (planned.inner_is_rows) return "y is not row-major";
  if (is_windowed(planned) && !has_fitting_windows(planned))
    return "the stage visits y by windows that are not side by side, or not of 2, 4, 8, ... or " +
           std::to_string(hopper_rows) + " columns or of whole tiles of as many";
  return "";
}

bool can_follow_on_tile(const PlannedStage& next, const std::vector<const PlannedStage*>& others) {
  if (!tile_refusal(next).empty()) return false;
  if (std::any_of(others.begin(), others.end(),
                  [](const PlannedStage* other) { return tile_stage_of(*other).has_partials(); }))
    return false;
  return std::all_of(next.operands.begin(), next.operands.end(), [&](const StageOperand& operand) {
    if (operand.is_written) return true;
    // Results may lie in any way; none is read where a value can be made again.
    if (operand.role == OperandRole::result) return false;
    return operand.role != OperandRole::intermediate ||
           std::all_of(others.begin(), others.end(), [&](const PlannedStage* other) {
             return stays_in_tile(next, operand, *other);
           });
  });
}

}  // namespace detail
}  // namespace postlude
