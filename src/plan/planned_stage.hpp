#ifndef POSTLUDE_PLAN_PLANNED_STAGE_HPP
#define POSTLUDE_PLAN_PLANNED_STAGE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "evaluator/stage.hpp"
#include "program/program.hpp"

namespace postlude {
namespace detail {

/// The three ways to sweep over a domain.
enum class SweepKind {
  pointwise,        ///< every element by itself
  inner_reduction,  ///< along the dimension in which y is contiguous: one team for each line
  outer_reduction   ///< across it: partial results of chunks of lines, then a finishing sweep
};

/// What a stage's operand stands for before an execution gives it an address.
enum class OperandRole {
  gemm_result,   ///< y, or the engine's product that y is made of
  gemm_factors,  ///< of the engine's product, float32 in the workspace at `offset`
  operand,       ///< operand `index` of the program
  intermediate,  ///< a reduced value kept in the workspace at `offset`
  result,        ///< result `index` of the program
  position       ///< no memory: the index of an element, for random numbers
};

struct StageOperand {
  OperandRole role = OperandRole::gemm_result;
  std::size_t index = 0;
  std::size_t offset = 0;  ///< bytes from the start of the workspace
  Shape shape;
  bool is_written = false;
  std::int64_t repeat = 1;  ///< columns of the domain that share one column of the operand
  /// An intermediate of which there is one panel only, not that of all of y; see Panels.
  bool is_of_panel = false;
};

/// A scalar of a stage that is bound at execution.
struct StageScalar {
  std::size_t slot = 0;     ///< index in Stage::scalars
  std::size_t operand = 0;  ///< index in Program::operands
};

/// A stage with its addresses and bound scalars still open.
struct PlannedStage {
  SweepKind sweep = SweepKind::pointwise;
  bool inner_is_rows = false;  ///< the inner dimension is dim 0 (column-major) instead of dim 1
  Shape domain;
  /// Of a reduction over parts of dim 1: the domain is visited window by window.
  std::int64_t window_count = 0;
  std::int64_t window_size = 0;
  std::int64_t window_step = 0;
  Stage stage;
  std::vector<StageOperand> operands;
  std::vector<StageScalar> scalars;
  std::int64_t chunks = 1;          ///< of an outer reduction
  std::size_t partials_offset = 0;  ///< bytes from the start of the workspace
  std::size_t partials_bytes = 0;
  int operation_count = 0;  ///< operations on each element
  /// It needs of a line (row, or column where inner_is_rows) only what the stages before it, back
  /// to the first one that does not join, made of the same line: one thread may run them one after
  /// another on a line that stays in its cache.
  bool joins_previous = false;
};

/// Lines that one chunk of an outer reduction takes. Depends on the shape alone, so that the order
/// of summation, and with it every bit of the result, is the same in every run.
constexpr std::int64_t chunk_lines(std::int64_t outer) {
  constexpr std::int64_t fewest_lines = 64;
  constexpr std::int64_t most_chunks = 64;
  const std::int64_t lines = (outer + most_chunks - 1) / most_chunks;
  return lines < fewest_lines ? fewest_lines : lines;
}

constexpr std::int64_t chunk_count(std::int64_t outer) {
  const std::int64_t lines = chunk_lines(outer);
  return outer == 0 ? 1 : (outer + lines - 1) / lines;
}

/// How a host takes an outer reduction: in tiles of columns, so many of them at a time that the
/// partial results of their chunks stay in its caches.
struct HostTiles {
  std::int64_t columns;  ///< of a tile; the last of a line has fewer
  std::int64_t count;    ///< of all batches
  std::int64_t at_once;
};

constexpr std::int64_t host_tile_columns = 256;

inline HostTiles host_tiles(const Stage& stage) {
  constexpr std::int64_t most_states = (std::int64_t(4) << 20) / 24;
  HostTiles tiles{std::min(stage.inner, host_tile_columns), 0, 0};
  if (stage.inner == 0) return tiles;
  tiles.count = stage.batch * ((stage.inner + host_tile_columns - 1) / host_tile_columns);
  tiles.at_once = std::min(
      tiles.count,
      std::max<std::int64_t>(most_states / (chunk_count(stage.outer) * host_tile_columns), 1));
  return tiles;
}

/// States of the chunks' partial results of an outer reduction.
inline std::int64_t partial_states(const Stage& stage, bool is_on_host) {
  const std::int64_t chunks = chunk_count(stage.outer);
  if (!is_on_host) return chunks * stage.batch * stage.inner;
  const HostTiles tiles = host_tiles(stage);
  return chunks * tiles.columns * tiles.at_once;
}

}  // namespace detail
}  // namespace postlude

#endif
