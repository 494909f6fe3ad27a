#include "execute/matrix_pass.hpp"

#include <algorithm>
#include <cstdlib>

#include "evaluator/quotient_up.hpp"
#include "execute/memory.hpp"

namespace postlude {
namespace detail {
namespace {

/// Whether the neighbours of an element are in its column.
bool is_by_columns(const Shape& shape, const MatrixStrides& strides) {
  if (shape.rows == 1) return false;
  if (shape.columns == 1) return true;
  return strides.row != 0 && std::llabs(strides.row) < std::llabs(strides.column);
}

PassCut cut_of(bool is_host, const PassMatrix& matrix, PassSums sums) {
  // Two blocks for each multiprocessor of a large GPU; a few times the cores of a large host.
  const std::int64_t wanted_units = is_host ? 256 : 264;
  PassCut cut;
  std::int64_t cut_extent = matrix.inner;
  std::int64_t shortest_chunk = is_host ? 16 * pass_tile : pass_tile;
  if (sums == PassSums::along_outer) {
    cut.groups = quotient_up(matrix.inner, is_host ? host_pass_tile : pass_tile);
    cut_extent = matrix.outer;
    shortest_chunk = is_host ? 64 : 32;
  } else {
    constexpr std::int64_t lines_at_once = 8;
    constexpr std::int64_t enough_lines = 96 * lines_at_once;
    if (!is_host && matrix.batch * matrix.outer >= enough_lines) cut.group_rows = lines_at_once;
    cut.groups = quotient_up(matrix.outer, cut.group_rows);
  }
  const std::int64_t units = std::max<std::int64_t>(1, matrix.batch * cut.groups);
  const std::int64_t chunks =
      std::max<std::int64_t>(1, std::min(wanted_units / units, cut_extent / shortest_chunk));
  // Whole tiles, so that every chunk begins where the first one does, as to alignment.
  const std::int64_t multiple = sums == PassSums::along_outer ? 1 : pass_tile;
  cut.length = quotient_up(quotient_up(cut_extent, chunks), multiple) * multiple;
  cut.chunks =
      std::max<std::int64_t>(1, quotient_up(cut_extent, std::max<std::int64_t>(1, cut.length)));
  cut.units = matrix.batch * cut.groups * cut.chunks;
  cut.workers = std::min(cut.units, most_magnitudes);
  return cut;
}

}  // namespace

MatrixPass matrix_pass(Backend backend, DataType dtype, const Shape& shape,
                       const MatrixStrides& strides, int summed_dimension) {
  const bool by_columns = is_by_columns(shape, strides);
  MatrixPass pass;
  pass.matrix.dtype = dtype;
  pass.matrix.batch = shape.batch;
  pass.matrix.outer = by_columns ? shape.columns : shape.rows;
  pass.matrix.inner = by_columns ? shape.rows : shape.columns;
  pass.matrix.stride_batch = strides.batch;
  pass.matrix.stride_outer = by_columns ? strides.column : strides.row;
  pass.matrix.stride_inner = by_columns ? strides.row : strides.column;
  if (summed_dimension >= 0)
    pass.sums =
        (summed_dimension == 1) != by_columns ? PassSums::along_inner : PassSums::along_outer;
  pass.cut = cut_of(is_reachable(backend, MemorySpace::host), pass.matrix, pass.sums);
  return pass;
}

namespace {

bool keeps_lost(const MatrixPass& pass) {
  return pass.matrix.dtype == DataType::float64 && pass.cut.chunks > 1;
}

}  // namespace

std::size_t partials_bytes(const MatrixPass& pass) {
  if (pass.sums == PassSums::none) return 0;
  const std::int64_t numbers = pass.cut.chunks * pass.sum_count() * (keeps_lost(pass) ? 2 : 1);
  return static_cast<std::size_t>(numbers) * sizeof(double);
}

double* lost_of(const MatrixPass& pass) {
  return keeps_lost(pass) ? pass.partials + pass.cut.chunks * pass.sum_count() : nullptr;
}

ChunkedSums sums_after(const MatrixPass& pass, double* sums) {
  return {pass.partials, lost_of(pass), sums, pass.sum_count(), pass.cut.chunks};
}

}  // namespace detail
}  // namespace postlude
