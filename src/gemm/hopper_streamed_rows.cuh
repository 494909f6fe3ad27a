#ifndef POSTLUDE_GEMM_HOPPER_STREAMED_ROWS_CUH
#define POSTLUDE_GEMM_HOPPER_STREAMED_ROWS_CUH

#include <cstdint>

#include "gemm/hopper_primitives.cuh"
#include "gemm/hopper_tiling.hpp"
#include "gemm/split_factor.hpp"
#include "gemm/split_recompute.cuh"

namespace postlude {
namespace detail {

// Rows of a w in float32 on their way from shared memory to the registers that matrix instructions
// read, as two float16 parts. A row is scaled by a power of two, which it keeps from one 64 of k to
// the next while their magnitudes fit, since looking for a new one takes longer than splitting.

/// A line of a tile: 64 elements of two bytes, or 32 of float32.
constexpr int line_bytes = 128;
constexpr int w_part_bytes = hopper_rows * line_bytes;

constexpr std::uint32_t infinity_bits = 0x7f800000u;
/// As in split_kernels: the largest scaled magnitude is in [2^14, 2^15).
constexpr int top_exponent = 14;
/// A row keeps the power of two of an earlier step as long as the largest scaled magnitude is not
/// below 2^9.
constexpr float least_largest = 1 << (top_exponent - 5);
/// From here on a scaled element keeps all of its bits: 2^-14.
constexpr float narrowest = 1.0f / (1 << 14);
constexpr int least_biased_exponent = 15;
/// Blocks of a streamed row may differ by this power of two, in either direction.
constexpr int largest_spread = 60;

constexpr int no_reference = 1 << 20;

/// The exponent of the power of two by which a row, or a part of it, is scaled.
__device__ inline int scale_exponent(std::uint32_t largest) {
  if (largest == 0) return 0;
  const int magnitude = largest >> 23 != 0 ? static_cast<int>(largest >> 23) - 127
                                           : -118 - __clz(static_cast<int>(largest));
  return top_exponent - magnitude;
}

/// The same for 64 elements of a streamed row. Where the largest magnitude is below 2^-112 it is
/// limited, so that one multiplication by a normal number does it.
__device__ inline int block_exponent(std::uint32_t largest) {
  return top_exponent + 127 - max(static_cast<int>(largest >> 23), least_biased_exponent);
}

/// The row in eight that a thread's lane of a warp has, as the accumulators of matrix instructions
/// have it: four lanes a row. The even rows before the odd ones: so the sixteen lanes that are
/// served at once find their pairs in different banks.
__device__ inline int streamed_row_in_eight(int lane) {
  const int quad = lane / 4;
  return quad < 4 ? 2 * quad : 2 * quad - 7;
}

/// What is known of a row of w so far.
struct StreamedRow {
  std::uint32_t largest = 0;     ///< bits of the largest finite magnitude, to a power of two
  int reference = no_reference;  ///< exponent of the scale of the first block that is not zero
  std::uint32_t marks = 0;       ///< of the elements of this thread

  __device__ int exponent() const { return reference == no_reference ? 0 : reference; }

  /// Marks of the four threads that share the row, for all of them.
  __device__ std::uint32_t all_marks() const {
    std::uint32_t all = marks | __shfl_xor_sync(whole_warp, marks, 1);
    return all | __shfl_xor_sync(whole_warp, all, 2);
  }

  /// Takes note of a step whose largest magnitude, or what is not finite, has these bits. Returns
  /// what the step's sum of products is multiplied by to be a part of the row's sum, whose scale is
  /// that of the reference.
  __device__ __forceinline__ float take(std::uint32_t bits) {
    if (bits >= infinity_bits) marks |= row_is_not_finite;
    const std::uint32_t own = bits >= infinity_bits ? 0 : bits;
    if (own == 0) return 0;
    const int exponent = block_exponent(own);
    if (reference == no_reference) reference = exponent;
    largest = max(largest, own);
    const int spread = exponent - reference;
    const int limited = max(-largest_spread, min(largest_spread, spread));
    if (limited != spread) marks |= row_is_not_finite;
    return power_of_two(-limited);
  }
};

__device__ inline float2 load_two(std::uint32_t address) {
  float2 value;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(value.x), "=f"(value.y)
               : "r"(address)
               : "memory");
  return value;
}

__device__ __forceinline__ float larger_magnitude(float a, float b) {
  float result;  // NaN if one is
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(fabsf(a)), "f"(fabsf(b)));
  return result;
}

__device__ __forceinline__ std::uint32_t magnitudes_of(std::uint32_t halves) {
  return halves & 0x7fff7fffu;
}

__device__ __forceinline__ std::uint32_t smaller_halves(std::uint32_t a, std::uint32_t b) {
  std::uint32_t result;
  asm("min.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

__device__ __forceinline__ std::uint32_t larger_halves(std::uint32_t a, std::uint32_t b) {
  std::uint32_t result;  // NaN if one is
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

/// What a thread has of 64 rows by 64 of k of w, as the matrix instructions want it: for each 16 of
/// k four pairs, of its two rows, eight apart, and of k and k + 8.
struct StreamedPairs {
  float2 of[hopper_step / 16][4];
};

/// One of the two parts of all pairs, two halves in each number.
using StreamedPart = std::uint32_t[hopper_step / 16][4];

/// Where a thread's first pair is in a tile of w, whose lines are swizzled: their 16 bytes c of row
/// r are at c ^ r % 8. Both rows of the thread agree in r % 8.
__device__ inline std::uint32_t place_of_pairs(int tile_row, int lane) {
  return static_cast<std::uint32_t>(tile_row * line_bytes + ((tile_row % 8 ^ (lane % 4 / 2)) << 4) +
                                    lane % 2 * 8);
}

__device__ __forceinline__ void load_pairs(StreamedPairs& pairs, std::uint32_t tile,
                                           std::uint32_t place) {
#pragma unroll
  for (int s = 0; s < hopper_step / 16; ++s)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      pairs.of[s][j] = load_two(tile + (place ^ (s % 2 << 6) ^ (j / 2 << 5)) +
                                s / 2 * w_part_bytes + j % 2 * 8 * line_bytes);
}

/// Bits of the largest magnitude of each of the two rows in a step, over the four lanes of a row.
struct StreamedBlock {
  std::uint32_t largest[2];
};

__device__ __forceinline__ void measure_pairs(const StreamedPairs& pairs, StreamedBlock& block) {
  float largest[2] = {0, 0};
#pragma unroll
  for (int s = 0; s < hopper_step / 16; ++s)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float2 pair = pairs.of[s][j];
      largest[j % 2] = larger_magnitude(largest[j % 2], larger_magnitude(pair.x, pair.y));
    }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int distance = 1; distance < 4; distance *= 2)
      largest[i] = larger_magnitude(largest[i], __shfl_xor_sync(whole_warp, largest[i], distance));
    block.largest[i] = __float_as_uint(largest[i]);
  }
}

/// Takes what must not reach the sums out of a step, and marks the rows in which something is.
__device__ __forceinline__ void check_pairs(StreamedPairs& pairs, const StreamedBlock& block,
                                            StreamedRow (&rows)[2]) {
#pragma unroll
  for (int s = 0; s < hopper_step / 16; ++s)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float2& pair = pairs.of[s][j];
      const std::uint32_t largest = block.largest[j % 2];
      const float scale = power_of_two(block_exponent(largest));
      // The row will be computed from its elements.
      if (largest >= infinity_bits) pair = {0, 0};
      if ((pair.x != 0 && fabsf(pair.x * scale) < narrowest) ||
          (pair.y != 0 && fabsf(pair.y * scale) < narrowest))
        rows[j % 2].marks |= row_is_wide;
    }
}

/// Whether the scales of an earlier step do for these high parts: no magnitude is above 2^15 or
/// NaN, as all are where there was no scale to keep, a row's largest is not far below that, and
/// none has fewer bits than it should.
__device__ __forceinline__ bool are_usual(const StreamedPart& high) {
  std::uint32_t least = magnitudes_of(high[0][0]);
  std::uint32_t largest[2] = {least, magnitudes_of(high[0][1])};
#pragma unroll
  for (int s = 0; s < hopper_step / 16; ++s)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const std::uint32_t magnitudes = magnitudes_of(high[s][j]);
      least = smaller_halves(least, magnitudes);
      largest[j % 2] = larger_halves(largest[j % 2], magnitudes);
    }
  const float2 low_ends = floats_of(least);
  bool is_usual = low_ends.x >= narrowest && low_ends.y >= narrowest;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float2 ends = floats_of(largest[i]);
    const float end = larger_magnitude(ends.x, ends.y);
    is_usual = is_usual && end >= least_largest && end <= 1 << (top_exponent + 1);
  }
  return is_usual;
}

/// Scales the pairs and splits them.
__device__ __forceinline__ void split_pairs(const StreamedPairs& pairs, const float (&scale)[2],
                                            StreamedPart& high, StreamedPart& low) {
#pragma unroll
  for (int s = 0; s < hopper_step / 16; ++s)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float front = pairs.of[s][j].x * scale[j % 2];
      const float back = pairs.of[s][j].y * scale[j % 2];
      high[s][j] = halves_of(front, back);
      const float2 taken = floats_of(high[s][j]);
      low[s][j] = halves_of((front - taken.x) * (1 << low_part_exponent),
                            (back - taken.y) * (1 << low_part_exponent));
    }
}

/// Whether the scale of a step with this largest magnitude may be kept for the next one. Not that
/// of zeros, whose products count for nothing, and not one that was limited: by its measure much
/// larger elements would look usual.
__device__ inline bool has_scale_to_keep(std::uint32_t largest) {
  return static_cast<int>(largest >> 23) >= least_biased_exponent && largest < infinity_bits;
}

/// Multiplied by it, nothing is usual.
__device__ inline float no_scale() { return __uint_as_float(0x7fffffffu); }

/// How a thread's two rows are scaled.
struct StreamedScales {
  float scale[2] = {no_scale(), no_scale()};  ///< that of the step before, where it may be kept
  float factor[2] = {0, 0};  ///< of the sums of a step's products, see StreamedRow::take()
};

/// Splits the thread's pairs of a step, 64 of k, of a tile of w in shared memory. All threads of a
/// warp take part.
__device__ __forceinline__ void split_step(std::uint32_t tile, std::uint32_t place,
                                           StreamedRow (&rows)[2], StreamedScales& scales,
                                           StreamedPart& high, StreamedPart& low) {
  StreamedPairs pairs;
  load_pairs(pairs, tile, place);
  split_pairs(pairs, scales.scale, high, low);
  if (!__any_sync(whole_warp, !are_usual(high))) return;
  // Loaded again: registers that keep them are worth more to the usual steps.
  StreamedBlock block;
  load_pairs(pairs, tile, place);
  measure_pairs(pairs, block);
  check_pairs(pairs, block, rows);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    scales.scale[i] = power_of_two(block_exponent(block.largest[i]));
    scales.factor[i] = rows[i].take(block.largest[i]);
  }
  split_pairs(pairs, scales.scale, high, low);
#pragma unroll
  for (int i = 0; i < 2; ++i)
    if (!has_scale_to_keep(block.largest[i])) scales.scale[i] = no_scale();
}

}  // namespace detail
}  // namespace postlude

#endif
