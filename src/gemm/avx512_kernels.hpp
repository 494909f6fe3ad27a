#ifndef POSTLUDE_GEMM_AVX512_KERNELS_HPP
#define POSTLUDE_GEMM_AVX512_KERNELS_HPP

#include <cstdint>

namespace postlude {
namespace detail {

/// Whether this library was compiled with the kernels below. They may be called where has_avx512()
/// as well, whatever processor the rest was compiled for.
bool has_avx512_kernels();

/// Numbers in a register.
constexpr std::int64_t avx512_width = 16;
/// Rows of w and vectors of x that are multiplied with each other at most: 24 sums in registers.
constexpr std::int64_t most_tile_rows = 6;
constexpr std::int64_t most_tile_vectors = 4;

/// sums[r, i] (+)= sum_k w[r, k] * x[i, k], for a few rows of w and as many rows of x as a few
/// vectors have lanes.
struct TileProduct {
  std::int64_t depth = 0;
  const float* w = nullptr;  ///< contiguous along k
  std::int64_t w_row = 0;
  /// Packed: the lanes of all vectors for the first k, then for the next; aligned to 64 bytes.
  const float* x = nullptr;
  float* sums = nullptr;  ///< a row of lanes for each row of w; aligned to 64 bytes
  std::int64_t sums_row = 0;
  bool adds = false;  ///< to what sums has
  /// Rows of w that are wanted next, of which as many elements are brought to the second-level
  /// cache. Not null, even where there are none.
  const float* ahead = nullptr;
  int ahead_rows = 0;
};

/// Computes one tile, of 1 to 6 rows and 1 to 4 vectors.
void multiply_tile_avx512(int rows, int vectors, const TileProduct& tile);

/// A matrix to be copied: to[r * to_row + c] = from[r * from_row + c * from_column], and zeros for
/// columns up to `padded_columns`.
struct MatrixCopy {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t padded_columns = 0;
  const float* from = nullptr;
  std::int64_t from_row = 0;
  std::int64_t from_column = 0;
  float* to = nullptr;
  std::int64_t to_row = 0;
};

/// Copies row by row, or where the columns of `from` are contiguous, in blocks that are transposed
/// in registers; element by element otherwise.
void copy_matrix_avx512(const MatrixCopy& copy);

}  // namespace detail
}  // namespace postlude

#endif
