#ifndef POSTLUDE_GEMM_HOPPER_TILE_STAGES_HPP
#define POSTLUDE_GEMM_HOPPER_TILE_STAGES_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "gemm/hopper_tiling.hpp"
#include "plan/planned_stage.hpp"

namespace postlude {
namespace detail {

// Which stages a kernel of the hopper engine can run on a tile of its sums, and which of them one
// after another: those that need of y, and of what earlier ones have reduced, only what the tile
// has.

/// How a stage is run on a tile.
struct HopperTileStage {
  SweepKind sweep = SweepKind::pointwise;
  int y = 0;  ///< which of the stage's operands is y
  /// Columns of y's windows that an inner reduction is over; 0 for whole lines.
  std::int64_t window = 0;
  std::int64_t inner = 0;  ///< Stage::inner: of a reduction along lines, the columns of a result

  /// Whether a tile has only a part of what makes a result: another kernel combines the parts.
  bool has_partials() const {
    return sweep == SweepKind::outer_reduction ||
           (sweep == SweepKind::inner_reduction && inner > hopper_rows);
  }
};

HopperTileStage tile_stage_of(const PlannedStage& planned);

/// Why a stage, which reads y and visits its elements, cannot be run on tiles, "" when it can.
std::string tile_refusal(const PlannedStage& planned);

/// Whether a stage, which reads y and visits its elements, can be run on a tile right after the
/// others, which are.
bool can_follow_on_tile(const PlannedStage& next, const std::vector<const PlannedStage*>& others);

}  // namespace detail
}  // namespace postlude

#endif
