#ifndef POSTLUDE_GEMM_MICROKERNEL_PANEL_HPP
#define POSTLUDE_GEMM_MICROKERNEL_PANEL_HPP

#include <cstdint>

#include "gemm/avx512_kernels.hpp"
#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// Products are added over so many k before the sums leave the registers: what x has of them for
/// 256 rows, half a megabyte, stays in the second-level cache, while w is read past it.
constexpr std::int64_t microkernel_depth = 512;

/// Rows of x that are multiplied with the same rows of w, one after another.
constexpr std::int64_t sliver_lanes = most_tile_vectors * avx512_width;

/// w as the kernels read it: plain, or laid out in blocks of microkernel_depth columns.
struct RowsOfW {
  const float* data = nullptr;
  std::int64_t row = 0;         ///< stride of plain rows
  std::int64_t column = 1;      ///< of plain rows; others than contiguous ones are copied
  std::int64_t block_rows = 0;  ///< rows of each block; 0 for plain rows
  std::int64_t first = 0;       ///< row of the blocks that is the first of the product
};

/// Whether the rows of plain w have to be copied to be read.
inline bool must_copy_w(std::int64_t depth, std::int64_t stride) {
  return depth > 1 && stride != 1;
}

/// Columns of y, as many as rows of w, for a few rows of x.
struct PanelOfY {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  /// Packed for each block of microkernel_depth: slivers of sliver_lanes rows and at last of as
  /// many as there are, with zeros up to whole vectors; of each sliver all lanes for the first k,
  /// then for the next.
  const float* x = nullptr;
  RowsOfW w;
  float* y = nullptr;
  MatrixStrides strides;    ///< of y
  float* sums = nullptr;    ///< columns times the rows in whole vectors
  float* copied = nullptr;  ///< columns times microkernel_depth, where w must be copied
};

/// Computes the panel on the calling thread. Every pointer but those of w and y is aligned to 64
/// bytes.
void multiply_panel(const PanelOfY& panel);

}  // namespace detail
}  // namespace postlude

#endif
