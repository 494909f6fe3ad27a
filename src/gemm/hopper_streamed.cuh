#ifndef POSTLUDE_GEMM_HOPPER_STREAMED_CUH
#define POSTLUDE_GEMM_HOPPER_STREAMED_CUH

#include <cstdint>

#include "gemm/hopper_primitives.cuh"
#include "gemm/hopper_streamed_rows.cuh"
#include "gemm/hopper_tiles.cuh"
#include "gemm/hopper_tiling.hpp"
#include "gemm/hopper_wgmma.cuh"

namespace postlude {
namespace detail {
namespace streamed {

// The kernel that stores y in tiles of fewer than 128 columns where w is as it is in memory, in
// float32, and is split into two float16 parts on its way into the matrix instructions. The warps
// that multiply split the elements of the next step while the tensor cores work on this one, and
// w and x have rings of their own. For 128 columns, and where a stage runs on the sums,
// hopper_tiles.cuh does the same with fewer means: as fast there, and up to 1.4 times slower here.

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

__device__ __forceinline__ void keep_until_here(const StreamedPart& parts) {
#pragma unroll
  for (int s = 0; s < hopper_step / 16; ++s)
    asm volatile("" ::"r"(parts[s][0]), "r"(parts[s][1]), "r"(parts[s][2]), "r"(parts[s][3])
                 : "memory");
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
  const int tile_row = row_of_thread<format>(static_cast<int>(threadIdx.x));
  const std::uint32_t place = place_of_pairs(tile_row, lane);
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
    StreamedPart high;
    StreamedPart low;
    StreamedPart next_high;
    StreamedPart next_low;
    StreamedScales scales;  // of the next step
    float factor[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < registers; ++i) total[i] = 0;
    const auto load = [&] {
      barrier_wait(shared.w_full + 8 * w_ring.stage, w_ring.parity);
      split_step(shared.w(w_ring.stage), place, rows, scales, next_high, next_low);
      release(shared.w_empty + 8 * w_ring.stage);
      w_ring.advance();
    };
    const auto take_next = [&] {
#pragma unroll
      for (int i = 0; i < 2; ++i) factor[i] = scales.factor[i];
#pragma unroll
      for (int s = 0; s < groups; ++s)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          high[s][j] = next_high[s][j];
          low[s][j] = next_low[s][j];
        }
    };
    load();
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
      if (has_next) load();
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
      const std::uint32_t marks = rows[i].all_marks();
      row_exponents[i] = rows[i].exponent();
      const int n = unit.w_tile * hopper_rows + tile_row + 8 * i;
      if (lane % 4 == 0 && n < p.n) {
        const std::int64_t place_of_row = unit.slice * static_cast<std::int64_t>(p.n) + n;
        p.w_scales[place_of_row] =
            streamed_scale(p, found_in_row(scale_exponent(rows[i].largest), marks));
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
