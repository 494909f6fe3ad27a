#ifndef POSTLUDE_GEMM_SPLIT_LAYOUT_HPP
#define POSTLUDE_GEMM_SPLIT_LAYOUT_HPP

#include <cstddef>
#include <cstdint>

#include "gemm/split_kernels.hpp"

namespace postlude {
namespace detail {

// How a split matrix lies in memory that is aligned to 256 bytes: its parts, then its scales, then
// its rows' states.

constexpr std::size_t bytes_of_part = 2;

constexpr std::size_t aligned_bytes(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// k rounded up, so that every row begins on 16 bytes.
constexpr std::int64_t padded_k(std::int64_t k) { return (k + 7) / 8 * 8; }

constexpr std::size_t split_parts_bytes(std::int64_t rows, std::int64_t k) {
  return aligned_bytes(static_cast<std::size_t>(rows) * static_cast<std::size_t>(padded_k(k)) * 2 *
                       bytes_of_part);
}

constexpr std::size_t split_scales_bytes(std::int64_t rows) {
  return aligned_bytes(static_cast<std::size_t>(rows) * sizeof(RowScale));
}

constexpr std::size_t split_states_bytes(std::int64_t rows) {
  return aligned_bytes(static_cast<std::size_t>(rows));
}

constexpr std::size_t split_matrix_bytes(std::int64_t rows, std::int64_t k) {
  return split_parts_bytes(rows, k) + split_scales_bytes(rows) + split_states_bytes(rows);
}

/// Bytes of scratch memory for split_matrix().
inline std::size_t splitting_bytes(std::int64_t rows, std::int64_t k, std::int64_t column_stride) {
  if (!split_needs_extrema(k, column_stride)) return 0;
  return aligned_bytes(static_cast<std::size_t>(rows) * sizeof(RowExtrema));
}

/// The matrix in memory of split_matrix_bytes().
inline SplitMatrix split_matrix_at(void* memory, std::int64_t rows, std::int64_t k,
                                   bool low_first) {
  SplitMatrix matrix;
  matrix.parts = memory;
  matrix.scales =
      reinterpret_cast<RowScale*>(static_cast<char*>(memory) + split_parts_bytes(rows, k));
  matrix.states = reinterpret_cast<std::uint8_t*>(matrix.scales) + split_scales_bytes(rows);
  matrix.padded_k = padded_k(k);
  matrix.low_first = low_first;
  return matrix;
}

}  // namespace detail
}  // namespace postlude

#endif
