#include "gemm/avx512_kernels.hpp"

// nvcc compiles the library for CUDA, and is not to be given vendor intrinsics.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define POSTLUDE_AVX512_KERNELS 1
#endif

#ifdef POSTLUDE_AVX512_KERNELS
#ifndef __clang__
// GCC 12 takes the intrinsics' own undefined registers for mistakes.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

namespace postlude {
namespace detail {

#ifdef POSTLUDE_AVX512_KERNELS

// Each function is compiled for AVX-512 by itself, so that nothing else of this file is: a template
// of the standard library that the linker shares with other files would run on any processor.
#define POSTLUDE_FOR_AVX512 __attribute__((target("avx512f")))

// The sums are registers only where every loop over them is unrolled.
#ifdef __clang__
#define POSTLUDE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define POSTLUDE_UNROLL _Pragma("GCC unroll 16")
#endif

namespace {

/// Elements of a cache line.
constexpr std::int64_t line = 16;

/// One k: each of the rows' elements, in all lanes, times the vectors of x.
template <int rows, int vectors>
POSTLUDE_FOR_AVX512 inline __attribute__((always_inline)) void multiply_once(
    __m512 (&sums)[rows][vectors], const float* w, const float* w_from_third, std::int64_t w_row,
    const float* x) {
  __m512 of_x[vectors];
  POSTLUDE_UNROLL
  for (int v = 0; v < vectors; ++v) {
    of_x[v] = _mm512_load_ps(x + v * avx512_width);
    // Loaded once, and not again by each multiplication.
    __asm__("" : "+v"(of_x[v]));
  }
  POSTLUDE_UNROLL
  for (int r = 0; r < rows; ++r) {
    // Two addresses, so that no row is more than two strides away: as far as an instruction can
    // reach without a multiplication.
    const __m512 of_w = _mm512_set1_ps(r < 3 ? w[r * w_row] : w_from_third[(r - 3) * w_row]);
    POSTLUDE_UNROLL
    for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_fmadd_ps(of_w, of_x[v], sums[r][v]);
  }
}

template <int rows, int vectors>
POSTLUDE_FOR_AVX512 void multiply_tile(const TileProduct& tile) {
  __m512 sums[rows][vectors];
  POSTLUDE_UNROLL
  for (int r = 0; r < rows; ++r) {
    POSTLUDE_UNROLL
    for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_setzero_ps();
  }
  constexpr std::int64_t lanes = vectors * avx512_width;
  const float* w = tile.w;
  const float* w_from_third = rows > 3 ? tile.w + 3 * tile.w_row : tile.w;
  const float* x = tile.x;
  const char* ahead = reinterpret_cast<const char*>(tile.ahead);
  const std::int64_t w_row = tile.w_row;
  const std::int64_t ahead_row = w_row * static_cast<std::int64_t>(sizeof(float));
  std::int64_t k = 0;
  for (; k + line <= tile.depth; k += line) {
    for (int r = 0; r < tile.ahead_rows; ++r) _mm_prefetch(ahead + r * ahead_row, _MM_HINT_T1);
    ahead += line * sizeof(float);
    constexpr int unrolled = 2;
    for (int half = 0; half < line / unrolled; ++half) {
      POSTLUDE_UNROLL
      for (int i = 0; i < unrolled; ++i)
        multiply_once<rows, vectors>(sums, w + i, w_from_third + i, w_row, x + i * lanes);
      w += unrolled;
      w_from_third += unrolled;
      x += unrolled * lanes;
    }
  }
  for (; k < tile.depth; ++k) {
    multiply_once<rows, vectors>(sums, w, w_from_third, w_row, x);
    ++w;
    ++w_from_third;
    x += lanes;
  }
  POSTLUDE_UNROLL
  for (int r = 0; r < rows; ++r) {
    POSTLUDE_UNROLL
    for (int v = 0; v < vectors; ++v) {
      float* const to = tile.sums + r * tile.sums_row + v * avx512_width;
      _mm512_store_ps(to, tile.adds ? _mm512_add_ps(_mm512_load_ps(to), sums[r][v]) : sums[r][v]);
    }
  }
}

using MultiplyTile = void (*)(const TileProduct&);

/// Of so many rows less one, and so many vectors less one.
constexpr MultiplyTile tiles[most_tile_rows][most_tile_vectors] = {
    {multiply_tile<1, 1>, multiply_tile<1, 2>, multiply_tile<1, 3>, multiply_tile<1, 4>},
    {multiply_tile<2, 1>, multiply_tile<2, 2>, multiply_tile<2, 3>, multiply_tile<2, 4>},
    {multiply_tile<3, 1>, multiply_tile<3, 2>, multiply_tile<3, 3>, multiply_tile<3, 4>},
    {multiply_tile<4, 1>, multiply_tile<4, 2>, multiply_tile<4, 3>, multiply_tile<4, 4>},
    {multiply_tile<5, 1>, multiply_tile<5, 2>, multiply_tile<5, 3>, multiply_tile<5, 4>},
    {multiply_tile<6, 1>, multiply_tile<6, 2>, multiply_tile<6, 3>, multiply_tile<6, 4>}};

/// The first `count` lanes.
POSTLUDE_FOR_AVX512 inline __mmask16 first_lanes(std::int64_t count) {
  return count >= avx512_width ? static_cast<__mmask16>(0xffff)
                               : static_cast<__mmask16>((1u << count) - 1u);
}

POSTLUDE_FOR_AVX512 inline __m512 low_pairs(__m512 a, __m512 b) {
  return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

POSTLUDE_FOR_AVX512 inline __m512 high_pairs(__m512 a, __m512 b) {
  return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

/// 16 rows of 16 become columns: elements, pairs and then quarters of the registers change places.
POSTLUDE_FOR_AVX512 inline __attribute__((always_inline)) void transpose(__m512 (&rows)[16]) {
  __m512 other[16];
  POSTLUDE_UNROLL
  for (int i = 0; i < 16; i += 2) {
    other[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
    other[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
  }
  POSTLUDE_UNROLL
  for (int i = 0; i < 16; i += 4) {
    rows[i] = low_pairs(other[i], other[i + 2]);
    rows[i + 1] = high_pairs(other[i], other[i + 2]);
    rows[i + 2] = low_pairs(other[i + 1], other[i + 3]);
    rows[i + 3] = high_pairs(other[i + 1], other[i + 3]);
  }
  // Quarters 0 and 2 of both operands, and 1 and 3.
  constexpr int even = 0x88, odd = 0xdd;
  POSTLUDE_UNROLL
  for (int i = 0; i < 4; ++i) {
    other[i] = _mm512_shuffle_f32x4(rows[i], rows[i + 4], even);
    other[i + 4] = _mm512_shuffle_f32x4(rows[i], rows[i + 4], odd);
    other[i + 8] = _mm512_shuffle_f32x4(rows[i + 8], rows[i + 12], even);
    other[i + 12] = _mm512_shuffle_f32x4(rows[i + 8], rows[i + 12], odd);
  }
  POSTLUDE_UNROLL
  for (int i = 0; i < 4; ++i) {
    rows[i] = _mm512_shuffle_f32x4(other[i], other[i + 8], even);
    rows[i + 4] = _mm512_shuffle_f32x4(other[i + 4], other[i + 12], even);
    rows[i + 8] = _mm512_shuffle_f32x4(other[i], other[i + 8], odd);
    rows[i + 12] = _mm512_shuffle_f32x4(other[i + 4], other[i + 12], odd);
  }
}

/// Where `from` has contiguous rows.
POSTLUDE_FOR_AVX512 void copy_rows(const MatrixCopy& copy) {
  for (std::int64_t row = 0; row < copy.rows; ++row) {
    const float* const from = copy.from + row * copy.from_row;
    float* const to = copy.to + row * copy.to_row;
    for (std::int64_t column = 0; column < copy.padded_columns; column += avx512_width) {
      const std::int64_t present = copy.columns > column ? copy.columns - column : 0;
      _mm512_mask_storeu_ps(to + column, first_lanes(copy.padded_columns - column),
                            _mm512_maskz_loadu_ps(first_lanes(present), from + column));
    }
  }
}

/// The block of 16x16 from a row and a column on.
POSTLUDE_FOR_AVX512 inline __attribute__((always_inline)) void copy_block_transposed(
    const MatrixCopy& copy, std::int64_t row, std::int64_t column) {
  const std::int64_t rows = copy.rows - row;
  const __mmask16 present = first_lanes(rows);
  const float* const from = copy.from + row + column * copy.from_column;
  __m512 block[16];
  POSTLUDE_UNROLL
  for (int i = 0; i < 16; ++i)
    block[i] = column + i < copy.columns
                   ? _mm512_maskz_loadu_ps(present, from + i * copy.from_column)
                   : _mm512_setzero_ps();
  transpose(block);
  float* const to = copy.to + row * copy.to_row + column;
  const __mmask16 wanted = first_lanes(copy.padded_columns - column);
  POSTLUDE_UNROLL
  for (int i = 0; i < 16; ++i)
    if (i < rows) _mm512_mask_storeu_ps(to + i * copy.to_row, wanted, block[i]);
}

/// Where `from` has contiguous columns. Blocks follow each other along the longer dimension, so
/// that no more than 16 pages are read or written in turn.
POSTLUDE_FOR_AVX512 void copy_transposed(const MatrixCopy& copy) {
  if (copy.rows > copy.padded_columns) {
    for (std::int64_t column = 0; column < copy.padded_columns; column += avx512_width)
      for (std::int64_t row = 0; row < copy.rows; row += avx512_width) {
        // Each column is a sequence of its own, too short for the processor to foresee it.
        constexpr std::int64_t ahead = 8 * line;
        for (std::int64_t i = column; i < copy.columns && i < column + avx512_width; ++i)
          _mm_prefetch(reinterpret_cast<const char*>(copy.from + row + ahead) +
                           i * copy.from_column * static_cast<std::int64_t>(sizeof(float)),
                       _MM_HINT_T0);
        copy_block_transposed(copy, row, column);
      }
  } else {
    for (std::int64_t row = 0; row < copy.rows; row += avx512_width)
      for (std::int64_t column = 0; column < copy.padded_columns; column += avx512_width)
        copy_block_transposed(copy, row, column);
  }
}

void copy_elements(const MatrixCopy& copy) {
  for (std::int64_t row = 0; row < copy.rows; ++row) {
    const float* const from = copy.from + row * copy.from_row;
    float* const to = copy.to + row * copy.to_row;
    for (std::int64_t column = 0; column < copy.columns; ++column)
      to[column] = from[column * copy.from_column];
    for (std::int64_t column = copy.columns; column < copy.padded_columns; ++column) to[column] = 0;
  }
}

}  // namespace

bool has_avx512_kernels() { return true; }

void multiply_tile_avx512(int rows, int vectors, const TileProduct& tile) {
  tiles[rows - 1][vectors - 1](tile);
}

void copy_matrix_avx512(const MatrixCopy& copy) {
  if (copy.from_column == 1 || copy.columns <= 1)
    copy_rows(copy);
  else if (copy.from_row == 1 || copy.rows <= 1)
    copy_transposed(copy);
  else
    copy_elements(copy);
}

#else

bool has_avx512_kernels() { return false; }

// Nobody calls these where there are none.
void multiply_tile_avx512(int, int, const TileProduct&) {}
void copy_matrix_avx512(const MatrixCopy&) {}

#endif

}  // namespace detail
}  // namespace postlude
