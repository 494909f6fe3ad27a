#ifndef POSTLUDE_GEMM_HOPPER_STREAMED_CUH
#define POSTLUDE_GEMM_HOPPER_STREAMED_CUH

#include <cuda_fp16.h>

#include <cstdint>

#include "gemm/hopper_primitives.cuh"
#include "gemm/hopper_tiles.cuh"
#include "gemm/hopper_tiling.hpp"
#include "gemm/hopper_wgmma.cuh"

namespace postlude {
namespace detail {
namespace streamed {

// The kernel that stores y in tiles of fewer than 128 columns where w is as it is in memory, in
// float32, and is split into two float16 parts on its way into the matrix instructions. The warps
// that multiply split the elements of the next step while the tensor cores work on this one, and
// w and x have rings of their own. A row of w has a power of two that it keeps while its elements
// fit. For 128 columns, and where a stage runs on the sums, hopper_tiles.cuh does the same with
// fewer means: as fast there, and up to 1.4 times slower here.

/// A row keeps the power of two of an earlier step as long as the largest scaled magnitude is not
/// below 2^9.
constexpr float least_largest = 1 << (top_exponent - 5);

/// x and w have rings of their own, since w comes from memory and x from the second-level cache.
template <int columns>
struct StreamedLayout {
  static constexpr int w_stages = 4;
  static constexpr int x_stages = 2;
  static constexpr int w_bytes = 2 * w_part_bytes;
  static constexpr int x_part_bytes = columns * line_bytes;
  static constexpr int x_bytes = 2 * x_part_bytes;
  static constexpr int dynamic_bytes = 1024 + w_stages * w_bytes + x_stages * x_bytes;
  static_assert(dynamic_bytes + 8192 <= shared_bytes_of_block, "the rings have to fit");
};

template <int columns>
struct StreamedShared {
  using L = StreamedLayout<columns>;
  std::uint32_t tiles;
  std::uint32_t w_full, w_empty, x_full, x_empty;

  __device__ StreamedShared(std::uint32_t first_tile, std::uint64_t (&barriers)[2][2][most_stages])
      : tiles(first_tile),
        w_full(shared_address(barriers[0][0])),
        w_empty(shared_address(barriers[0][1])),
        x_full(shared_address(barriers[1][0])),
        x_empty(shared_address(barriers[1][1])) {}

  __device__ void create_barriers() const {
    for (int i = 0; i < L::w_stages; ++i) {
      barrier_create(w_full + 8 * i, 1);
      barrier_create(w_empty + 8 * i, multiplying_warps);
    }
    for (int i = 0; i < L::x_stages; ++i) {
      barrier_create(x_full + 8 * i, 1);
      barrier_create(x_empty + 8 * i, multiplying_warps);
    }
  }
  __device__ std::uint32_t w(int stage) const { return tiles + stage * L::w_bytes; }
  __device__ std::uint32_t x(int stage) const {
    return tiles + L::w_stages * L::w_bytes + stage * L::x_bytes;
  }
};

/// Calls step(unit, k) for all steps of the block's units.
template <class Step>
__device__ __forceinline__ void for_each_step(const HopperParameters& p, const Step& step) {
  const int units = unit_count(p);
  for (int index = blockIdx.x; index < units; index += gridDim.x) {
    const Unit unit(p, index);
    for (int i = unit.begin; i < unit.end; ++i) step(unit, i * hopper_step);
  }
}

/// One thread: keeps copies of w under way.
template <int columns>
__device__ void copy_streamed_w(const HopperParameters& p, const StreamedShared<columns>& shared) {
  using L = StreamedLayout<columns>;
  const std::uint64_t policy = p.x_tiles == 1 ? stream_policy() : keep_policy();
  Ring<L::w_stages> ring;
  for_each_step(p, [&](const Unit& unit, int k) {
    const std::uint32_t full = shared.w_full + 8 * ring.stage;
    barrier_wait(shared.w_empty + 8 * ring.stage, ring.parity ^ 1);
    barrier_expect(full, L::w_bytes);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      copy_box(shared.w(ring.stage) + half * w_part_bytes, p.w_map, k + half * (hopper_step / 2),
               unit.w_tile * hopper_rows, 0, full, policy);
    ring.advance();
  });
}

/// One thread: the same of x.
template <int columns>
__device__ void copy_streamed_x(const HopperParameters& p, const StreamedShared<columns>& shared) {
  using L = StreamedLayout<columns>;
  const std::uint64_t policy = keep_policy();
  Ring<L::x_stages> ring;
  for_each_step(p, [&](const Unit& unit, int k) {
    const std::uint32_t full = shared.x_full + 8 * ring.stage;
    barrier_wait(shared.x_empty + 8 * ring.stage, ring.parity ^ 1);
    barrier_expect(full, L::x_bytes);
#pragma unroll
    for (int part = 0; part < 2; ++part)
      copy_box(shared.x(ring.stage) + part * L::x_part_bytes, p.x_map, k, unit.x_tile * columns,
               part, full, policy);
    ring.advance();
  });
}

/// What is known of a row of w so far.
struct StreamedRow {
  std::uint32_t largest = 0;     ///< bits of the largest finite magnitude
  int reference = no_reference;  ///< exponent of the scale of the first block that is not zero
  std::uint32_t marks = 0;
};

/// What a step's sum of products is multiplied by to be a part of the row's sum, whose scale is
/// that of the reference. `bits` is the largest magnitude of the step, or what is not finite.
__device__ __forceinline__ float take_block(StreamedRow& row, std::uint32_t bits) {
  if (bits >= infinity_bits) row.marks |= row_is_not_finite;
  const std::uint32_t own = bits >= infinity_bits ? 0 : bits;
  if (own == 0) return 0;
  const int exponent = block_exponent(own);
  if (row.reference == no_reference) row.reference = exponent;
  row.largest = max(row.largest, own);
  const int spread = exponent - row.reference;
  const int limited = max(-largest_spread, min(largest_spread, spread));
  if (limited != spread) row.marks |= row_is_not_finite;
  return power_of_two(-limited);
}

/// What a thread has of 64 rows by 64 of k of w, as the matrix instructions want it: for each 16 of
/// k four pairs, of its two rows and of k and k + 8.
struct StreamedPairs {
  float2 of[hopper_step / 16][4];
};

__device__ __forceinline__ void keep_until_here(const std::uint32_t (&parts)[hopper_step / 16][4]) {
#pragma unroll
  for (int s = 0; s < hopper_step / 16; ++s)
    asm volatile("" ::"r"(parts[s][0]), "r"(parts[s][1]), "r"(parts[s][2]), "r"(parts[s][3])
                 : "memory");
}

/// `place` is where the thread's first pair is in a tile. The tile's lines are swizzled: its 16
/// bytes c of row r are at c ^ r % 8, and both rows of the thread agree in r % 8.
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

__device__ __forceinline__ std::uint32_t bits_of(__half2 value) {
  return *reinterpret_cast<const std::uint32_t*>(&value);
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

__device__ __forceinline__ __half2 halves_of(std::uint32_t bits) {
  return *reinterpret_cast<const __half2*>(&bits);
}

/// Whether the scales of an earlier step do for these high parts: no magnitude is above 2^15, or
/// NaN, a row's largest is not far below that, and none has fewer bits than it should.
__device__ __forceinline__ bool are_usual(const std::uint32_t (&high)[hopper_step / 16][4]) {
  __half2 least = __habs2(halves_of(high[0][0]));
  __half2 largest[2] = {least, __habs2(halves_of(high[0][1]))};
#pragma unroll
  for (int s = 0; s < hopper_step / 16; ++s)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const __half2 magnitude = __habs2(halves_of(high[s][j]));
      least = __hmin2(least, magnitude);
      largest[j % 2] = __hmax2_nan(largest[j % 2], magnitude);
    }
  const float2 low_ends = __half22float2(least);
  bool is_usual = low_ends.x >= narrowest && low_ends.y >= narrowest;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float2 ends = __half22float2(largest[i]);
    const float end = larger_magnitude(ends.x, ends.y);
    is_usual = is_usual && end >= least_largest && end <= 1 << (top_exponent + 1);
  }
  return is_usual;
}

/// Scales the pairs and splits them.
__device__ __forceinline__ void split_pairs(const StreamedPairs& pairs, const float (&scale)[2],
                                            std::uint32_t (&high)[hopper_step / 16][4],
                                            std::uint32_t (&low)[hopper_step / 16][4]) {
#pragma unroll
  for (int s = 0; s < hopper_step / 16; ++s)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float front = pairs.of[s][j].x * scale[j % 2];
      const float back = pairs.of[s][j].y * scale[j % 2];
      const __half2 rounded = __floats2half2_rn(front, back);
      const float2 taken = __half22float2(rounded);
      high[s][j] = bits_of(rounded);
      low[s][j] = bits_of(__floats2half2_rn((front - taken.x) * (1 << low_part_exponent),
                                            (back - taken.y) * (1 << low_part_exponent)));
    }
}

/// A warpgroup: 64 rows of w by all columns of the tile.
template <int columns>
__device__ void multiply_streamed(const HopperParameters& p, const StreamedShared<columns>& shared,
                                  StreamedRow (&rows)[2]) {
  using L = StreamedLayout<columns>;
  constexpr HopperFormat format = HopperFormat::streamed;
  constexpr int registers = columns / 2;
  constexpr int groups = hopper_step / 16;
  // Wide tiles are multiplied in two parts, so that the tensor cores have one while the sums of the
  // other are scaled.
  constexpr int parts = columns >= 64 ? 2 : 1;
  constexpr int part_registers = registers / parts;
  constexpr std::uint64_t part_of_descriptor = columns / parts * line_bytes >> 4;
  const int lane = threadIdx.x % warp_size;
  const int quad = lane / 4;
  // The even rows before the odd ones: so the sixteen lanes that are served at once find their
  // pairs in different banks.
  const int row_in_eight = quad < 4 ? 2 * quad : 2 * quad - 7;
  const int tile_row = threadIdx.x / warp_size * 16 + row_in_eight;
  const std::uint32_t place =
      tile_row * line_bytes + ((row_in_eight ^ (lane % 4 / 2)) << 4) + lane % 2 * 8;
  Ring<L::w_stages> w_ring;
  Ring<L::x_stages> x_ring;
  const auto release = [&](std::uint32_t barrier) {
    __syncwarp();
    if (lane == 0) barrier_arrive(barrier);
  };

  const int units = unit_count(p);
  for (int index = blockIdx.x; index < units; index += gridDim.x) {
    const Unit unit(p, index);
#pragma unroll
    for (int i = 0; i < 2; ++i) rows[i] = StreamedRow();
    float total[registers];
    float sum[parts][part_registers];
    std::uint32_t high[groups][4];
    std::uint32_t low[groups][4];
    std::uint32_t next_high[groups][4];
    std::uint32_t next_low[groups][4];
    float scale[2] = {1, 1};
    float factor[2] = {0, 0};
    float next_factor[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < registers; ++i) total[i] = 0;
    const auto load = [&](bool is_first) {
      StreamedPairs pairs;
      const std::uint32_t tile = shared.w(w_ring.stage);
      barrier_wait(shared.w_full + 8 * w_ring.stage, w_ring.parity);
      load_pairs(pairs, tile, place);
      split_pairs(pairs, scale, next_high, next_low);
      if (__any_sync(whole_warp, is_first || !are_usual(next_high))) {
        StreamedBlock block;
        load_pairs(pairs, tile, place);
        measure_pairs(pairs, block);
        check_pairs(pairs, block, rows);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          scale[i] = power_of_two(block_exponent(block.largest[i]));
          next_factor[i] = take_block(rows[i], block.largest[i]);
        }
        split_pairs(pairs, scale, next_high, next_low);
      }
      release(shared.w_empty + 8 * w_ring.stage);
      w_ring.advance();
    };
    const auto take_next = [&] {
#pragma unroll
      for (int i = 0; i < 2; ++i) factor[i] = next_factor[i];
#pragma unroll
      for (int s = 0; s < groups; ++s)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          high[s][j] = next_high[s][j];
          low[s][j] = next_low[s][j];
        }
    };
    load(true);
    take_next();
    for (int step = unit.begin; step < unit.end; ++step) {
      const bool has_next = step + 1 < unit.end;
      const std::uint64_t x_high = tile_descriptor(shared.x(x_ring.stage));
      const std::uint64_t x_low = tile_descriptor(shared.x(x_ring.stage) + L::x_part_bytes);
      const auto multiply_cross = [&](int part) {
        const std::uint64_t offset = part * part_of_descriptor;
        wgmma_begin();
#pragma unroll
        for (int s = 0; s < groups; ++s)
          wgmma_f16(sum[part], high[s], x_low + offset + 2 * s, s != 0);
#pragma unroll
        for (int s = 0; s < groups; ++s) wgmma_f16(sum[part], low[s], x_high + offset + 2 * s, 1);
        wgmma_commit();
      };
      const auto multiply_high = [&](int part) {
        pin(sum[part]);
#pragma unroll
        for (float& value : sum[part]) value *= 1.0f / (1 << low_part_exponent);
        pin(sum[part]);
        wgmma_begin();
#pragma unroll
        for (int s = 0; s < groups; ++s)
          wgmma_f16(sum[part], high[s], x_high + part * part_of_descriptor + 2 * s, 1);
        wgmma_commit();
      };
      const auto add_to_total = [&](int part) {
        pin(sum[part]);
#pragma unroll
        for (int i = 0; i < part_registers; ++i) {
          float& value = total[part * part_registers + i];
          value = fmaf(factor[i / 2 % 2], sum[part][i], value);
        }
      };
      barrier_wait(shared.x_full + 8 * x_ring.stage, x_ring.parity);
#pragma unroll
      for (int part = 0; part < parts; ++part) multiply_cross(part);
      if (has_next) load(false);
        // Groups end in the order in which they were begun: of the one before the last, each time.
#pragma unroll
      for (int part = 0; part < parts; ++part) {
        wgmma_wait<parts - 1>();
        multiply_high(part);
      }
      keep_until_here(low);
      if (parts > 1) {
        wgmma_wait<parts - 1>();
        add_to_total(0);
      }
      wgmma_wait<0>();
      add_to_total(parts - 1);
      keep_until_here(high);
      release(shared.x_empty + 8 * x_ring.stage);
      x_ring.advance();
      if (has_next) take_next();
    }

    int row_exponents[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      std::uint32_t marks = rows[i].marks;
      marks |= __shfl_xor_sync(whole_warp, marks, 1);
      marks |= __shfl_xor_sync(whole_warp, marks, 2);
      row_exponents[i] = rows[i].reference == no_reference ? 0 : rows[i].reference;
      const int n = unit.w_tile * hopper_rows + tile_row + 8 * i;
      if (lane % 4 == 0 && n < p.n) {
        const std::int64_t place_of_row = unit.slice * static_cast<std::int64_t>(p.n) + n;
        RowScale scale;
        scale.exponent = scale_exponent(rows[i].largest);
        scale.marks = marks;
        scale.sum = static_cast<float>(p.steps * hopper_step) * (1 << (top_exponent + 1));
        p.w_scales[place_of_row] = scale;
        p.w_states[place_of_row] = marks != 0 ? state_marked : 0;
      }
    }
    const int found[2] = {0, 0};
    StoreSums().template finish<format, columns>(p, unit,
                                                 TileSums<registers>{total, row_exponents, found});
  }
}

/// A block of the kernel.
template <int columns>
__device__ void block(const HopperParameters& p) {
  extern __shared__ unsigned char dynamic_memory[];
  __shared__ alignas(8) std::uint64_t barriers[2][2][most_stages];
  // Seldom looked at: registers are too few.
  __shared__ StreamedRow rows[multiplying_warps * warp_size][2];
  const StreamedShared<columns> shared((shared_address(dynamic_memory) + 1023) / 1024 * 1024,
                                       barriers);
  if (threadIdx.x == 0) {
    prefetch_map(p.x_map);
    prefetch_map(p.w_map);
    shared.create_barriers();
    barrier_publish();
  }
  wait_for_kernel_before();
  if (p.unless != nullptr && *p.unless != 0) return;
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / warp_size - multiplying_warps;
  const bool copies = threadIdx.x % warp_size == 0;
  if (warp < 0) {
    take_registers<240>();
    multiply_streamed(p, shared, rows[threadIdx.x]);
  } else {
    give_registers<24>();
    if (copies && warp == 0) copy_streamed_w(p, shared);
    if (copies && warp == 1) copy_streamed_x(p, shared);
  }
}

}  // namespace streamed
}  // namespace detail
}  // namespace postlude

#endif
