#ifndef POSTLUDE_GEMM_SPLIT_KERNELS_HPP
#define POSTLUDE_GEMM_SPLIT_KERNELS_HPP

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gemm/split_factor.hpp"

namespace postlude {
namespace detail {

// Kernels of the split engine: plain CUDA, pointers and a stream.
//
// A row v of x or w becomes two rows of float16,
//
//     high = float16(v s),  low = float16((v s - high) 2^11),  s = 2^exponent,
//
// with s such that the largest finite |v| s is in [2^14, 2^15). Elements from 2^-28 of the largest
// on keep 22 bits or more; smaller ones are off by at most 2^-36 s^-1. Products of parts are at
// most 2^30, so that no sum of them overflows float32. Rows in which that is not enough are marked:
// NaN and infinities (split as zeros), and elements that are so small beside the row's largest that
// they lose bits. finish_split() computes what depends on them from the operands themselves.

/// Rows whose exponent is from 0 to this have a factor 2^-exponent by which a sweep may multiply
/// the product in float32: the sum of products, at least 2^-59 when it is not 0 and at most 2^60,
/// stays in range under the first factor, and y = ((product 2^-e) 2^-f) is rounded at most once.
/// With exponents from 0 on, an element of y is a float32 number in units of the product, too.
constexpr int largest_factor_exponent = 67;

/// A row's exponent is out of range for a factor.
constexpr std::uint8_t state_without_factor = 2;

/// Bit patterns of the magnitudes in a row, gathered over several blocks; zeros to begin with.
struct RowExtrema {
  std::uint32_t largest;
  std::uint32_t smallest_complement;  ///< largest of ~bits over elements other than zero
  std::uint32_t is_not_finite;
};

/// A matrix in two parts: row r is at parts + 2 r padded_k, one part after the other, each of
/// padded_k elements of which those from k on are zero.
struct SplitMatrix {
  void* parts = nullptr;  ///< float16, aligned to 16 bytes
  RowScale* scales = nullptr;
  std::uint8_t* states = nullptr;  ///< of rows, aligned to 16 bytes
  std::int64_t padded_k = 0;       ///< a multiple of 8
  bool low_first = false;          ///< else the high part comes first
  /// A word in the device's memory: nothing is split where it is not 0. Null for none.
  const int* unless = nullptr;
};

/// Whether split_matrix() needs RowExtrema for each row: where the elements of a row are apart.
bool split_needs_extrema(std::int64_t k, std::int64_t column_stride);

/// Enqueues the splitting of a matrix. Reads it once where the elements of a row are contiguous and
/// at most 16384, else twice.
void split_matrix(const SplitSource& source, const SplitMatrix& matrix, RowExtrema* extrema,
                  cudaStream_t stream);

/// Products of split rows, and where y goes.
struct SplitResult {
  std::int64_t m = 0;
  std::int64_t n = 0;
  const float* product = nullptr;      ///< row-major, aligned to 16 bytes
  std::int64_t leading_dimension = 0;  ///< of product, a multiple of 4
  /// Row m is products of x's high part at 2m, those of its low part at 2m+1; else the sum at m.
  bool has_low_rows = false;
  float* y = nullptr;
  std::int64_t y_row_stride = 0;
  std::int64_t y_column_stride = 0;
};

/// Enqueues the copying of the rows that have a place, scales[r].kept, among `kept` rows of k
/// elements.
void keep_rows(const SplitSource& source, const RowScale* scales, float* kept, cudaStream_t stream);

/// Enqueues y = product / (s_m t_n), and the elements that marked rows make of x w^T computed in
/// float64 from the operands.
void finish_split(const SplitFactor& x, const SplitFactor& w, const SplitResult& result,
                  cudaStream_t stream);

/// A product whose elements are to be multiplied by factors when they are read. A line is a row
/// where rows are contiguous, else a column.
struct SplitProduct {
  float* data = nullptr;
  std::int64_t leading_dimension = 0;
  float* line_factors = nullptr;
  float* element_factors = nullptr;
};

/// Enqueues the writing of both factors, and in the product of what finish_split() would compute
/// from the operands. Where some row has no factor, factors are 1 and the product becomes y. Else,
/// and when no row is marked, it does not look at the product.
void settle_product(const SplitFactor& of_line, const SplitFactor& of_element,
                    const SplitProduct& product, cudaStream_t stream);

/// y with its scales undone, or slices of it that are still to be added.
struct SplitSums {
  std::int64_t m = 0;
  std::int64_t n = 0;
  float* y = nullptr;
  std::int64_t y_row_stride = 0;
  std::int64_t y_column_stride = 0;
  const float* slices = nullptr;  ///< row-major m x n each, one after another; null for none
  int slice_count = 0;
  /// How many times w has scales and states, n each, one for each slice of k; 0 for neither x nor
  /// w.
  int w_scale_count = 1;
  /// A word in the device's memory: nothing is done where it is not 0. Null for none.
  const int* unless = nullptr;
};

/// Enqueues y = the sum of the slices, and in y what finish_split() would compute from the
/// operands. Without slices it does not look at y when no row is marked.
void settle_sums(const SplitFactor& x, const SplitFactor& w, const SplitSums& sums,
                 cudaStream_t stream);

}  // namespace detail
}  // namespace postlude

#endif
