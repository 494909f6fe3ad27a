#ifndef POSTLUDE_GEMM_SPLIT_FACTOR_HPP
#define POSTLUDE_GEMM_SPLIT_FACTOR_HPP

#include <cstdint>

namespace postlude {
namespace detail {

// What kernels need of a matrix that was split (split_kernels.hpp) to compute elements of a product
// again from the operands; without includes of CUDA, since some are compiled at run time.

/// The distance of the low part from the high one, as a power of two.
constexpr int low_part_exponent = 11;

/// The row has an infinity or a NaN.
constexpr std::uint32_t row_is_not_finite = 1;
/// The row has elements other than zero below 2^-28 of its largest.
constexpr std::uint32_t row_is_wide = 2;

/// In a row's state: it has marks.
constexpr std::uint8_t state_marked = 1;

/// What splitting has found out about a row.
struct alignas(16) RowScale {
  std::int32_t exponent = 0;  ///< log2 of s
  std::uint32_t marks = 0;
  float sum = 0;           ///< of the finite |v| s, or more
  std::int32_t kept = -1;  ///< which of the kept rows holds its elements; -1 for none
};

/// A float32 matrix of `rows` rows with k elements each; strides in elements.
struct SplitSource {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t k = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// A factor of the product of split matrices: rows are read where they, or those of the other
/// factor, are marked.
struct SplitFactor {
  SplitSource source;  ///< of null data where only the parts are left
  const RowScale* scales = nullptr;
  const float* kept = nullptr;  ///< rows of k elements each; null when none is kept
  const std::uint8_t* states = nullptr;
  /// As in SplitMatrix; read where there is no source and the row is not kept.
  const void* parts = nullptr;
  std::int64_t padded_k = 0;
  bool low_first = false;
};

}  // namespace detail
}  // namespace postlude

#endif
