#ifndef POSTLUDE_GEMM_HOPPER_TILES_CUH
#define POSTLUDE_GEMM_HOPPER_TILES_CUH

#include <cstdint>

#include "gemm/hopper_primitives.cuh"
#include "gemm/hopper_streamed_rows.cuh"
#include "gemm/hopper_tiling.hpp"
#include "gemm/hopper_wgmma.cuh"
#include "gemm/split_factor.hpp"
#include "gemm/split_recompute.cuh"

namespace postlude {
namespace detail {

// The blocks of the hopper engine's kernels (hopper_kernels.hpp), for nvcc and, with a stage on the
// sums, for the compiler for run time.

constexpr int warpgroup_size = 128;
/// Two warpgroups multiply, and one warp copies.
constexpr int multiplying_warps = 8;

constexpr int most_stages = 8;
constexpr int shared_bytes_of_block = 227 * 1024;

/// Named barriers at which warpgroups that split w wait for their turn to multiply, one for each;
/// 1 is the epilogue's.
constexpr int turn_barrier = 2;
/// Steps after which a sum of high products is promoted.
constexpr int promotion_steps = 1;
/// What the kernels are given of one product.
struct HopperParameters {
  TensorMap x_map;
  TensorMap w_map;
  int m;
  int n;
  int steps;  ///< of 64 in k
  int steps_of_slice;
  int slices;
  int x_tiles;
  int w_tiles;
  int x_group;  ///< tiles of x that are visited for each tile of w before the next
  const RowScale* x_scales;
  RowScale* w_scales;
  std::uint8_t* w_states;
  float* y;  ///< null where only a stage needs the sums
  std::int64_t y_row_stride;
  std::int64_t y_column_stride;
  std::int64_t slice_stride;
  const int* unless;  ///< nothing is computed where it is not 0; null for none
};

/// Whether x and w come as two parts, float32 by their rows' powers of two.
template <HopperFormat format>
constexpr bool is_in_parts = format == HopperFormat::split || format == HopperFormat::streamed;

template <HopperFormat format, int columns, int epilogue_bytes>
struct Layout {
  static constexpr int parts = is_in_parts<format> ? 2 : 1;
  /// First the warpgroups that multiply, then that of the warp that copies, since registers are
  /// given up by warpgroups.
  static constexpr int multiplying_threads = 2 * warpgroup_size;
  static constexpr int threads = multiplying_threads + warpgroup_size;
  static constexpr int x_part_bytes = columns * line_bytes;
  static constexpr int w_bytes = parts * w_part_bytes;
  static constexpr int stage_bytes = w_bytes + parts * x_part_bytes;
  /// Barriers, and what the compiler needs.
  static constexpr int other_bytes = 2 * 1024;
  static constexpr int fitting_stages =
      (shared_bytes_of_block - 1024 - other_bytes - epilogue_bytes) / stage_bytes;
  static constexpr int stages = fitting_stages < most_stages ? fitting_stages : most_stages;
  static constexpr int dynamic_bytes = 1024 + stages * stage_bytes;
};

/// A row's marks and the exponent of its largest element in one number.
__device__ inline int found_in_row(int exponent, std::uint32_t marks) {
  return exponent * 4 | static_cast<int>(marks);
}

/// A unit of work: one tile, over one slice of k.
struct Unit {
  int w_tile;
  int x_tile;
  int slice;
  int begin;
  int end;

  __device__ Unit(const HopperParameters& p, int index) {
    const int of_group = p.w_tiles * p.slices * p.x_group;
    const int group = index / of_group;
    const int in_group = index - group * of_group;
    const int width = min(p.x_group, p.x_tiles - group * p.x_group);
    const int rest = in_group / width;
    x_tile = group * p.x_group + in_group - rest * width;
    w_tile = rest / p.slices;
    slice = rest - w_tile * p.slices;
    begin = slice * p.steps_of_slice;
    end = min(begin + p.steps_of_slice, p.steps);
  }
};

__device__ inline int unit_count(const HopperParameters& p) {
  return p.x_tiles * p.w_tiles * p.slices;
}

/// A place in the ring of stages.
template <int stages>
struct Ring {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ void advance() {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// value 2^-exponent, rounded once.
__device__ inline float unscaled(float value, int exponent) {
  if (exponent >= -126 && exponent <= 126) return value * power_of_two(-exponent);
  return static_cast<float>(static_cast<double>(value) * power_of_two_double(-exponent));
}

template <HopperFormat format, int columns, int epilogue_bytes>
struct Shared {
  using L = Layout<format, columns, epilogue_bytes>;
  std::uint32_t tiles;  ///< address of the stages
  std::uint32_t full;
  std::uint32_t empty;

  __device__ std::uint32_t w(int stage) const { return tiles + stage * L::stage_bytes; }
  __device__ std::uint32_t x(int stage) const { return w(stage) + L::w_bytes; }
};

/// One thread: keeps copies under way.
template <HopperFormat format, int columns, int epilogue_bytes>
__device__ void copy_tiles(const HopperParameters& p,
                           const Shared<format, columns, epilogue_bytes>& shared) {
  using L = Layout<format, columns, epilogue_bytes>;
  const std::uint64_t keep = keep_policy();
  const std::uint64_t w_policy = p.x_tiles == 1 ? stream_policy() : keep;

  Ring<L::stages> ring;
  const int units = unit_count(p);
  for (int index = blockIdx.x; index < units; index += gridDim.x) {
    const Unit unit(p, index);
    for (int step = unit.begin; step < unit.end; ++step) {
      const std::uint32_t full = shared.full + 8 * ring.stage;
      barrier_wait(shared.empty + 8 * ring.stage, ring.parity ^ 1);
      barrier_expect(full, L::stage_bytes);
      const int k = step * hopper_step;
      const int x_row = unit.x_tile * columns;
      const int w_row = unit.w_tile * hopper_rows;
#pragma unroll
      for (int part = 0; part < L::parts; ++part) {
        const int w_k = format == HopperFormat::streamed ? k + part * (hopper_step / 2) : k;
        const int w_part = format == HopperFormat::streamed ? 0 : part;
        copy_box(shared.w(ring.stage) + part * w_part_bytes, p.w_map, w_k, w_row, w_part, full,
                 w_policy);
      }
#pragma unroll
      for (int part = 0; part < L::parts; ++part)
        copy_box(shared.x(ring.stage) + part * L::x_part_bytes, p.x_map, k, x_row, part, full,
                 keep);
      ring.advance();
    }
  }
}

/// What is known of a row of w that was streamed.
__device__ inline RowScale streamed_scale(const HopperParameters& p, int found) {
  RowScale scale;
  scale.exponent = found >> 2;
  scale.marks = static_cast<std::uint32_t>(found) & 3u;
  scale.sum = static_cast<float>(p.steps * hopper_step) * (1 << (top_exponent + 1));
  return scale;
}

/// The row of w in its tile that is the first of two, eight apart, of this thread: a warp has 16
/// rows, of which four lanes have one each, and the second warpgroup follows the first.
template <HopperFormat format>
__device__ int row_of_thread(int thread) {
  const int lane = thread % warp_size;
  const int row_in_eight =
      format == HopperFormat::streamed ? streamed_row_in_eight(lane) : lane / 4;
  return thread / warp_size * 16 + row_in_eight;
}

template <int registers>
__device__ __forceinline__ void multiply_step(float (&sum)[registers], const StreamedPart& a,
                                              std::uint64_t b, int accumulates) {
#pragma unroll
  for (int i = 0; i < hopper_step / 16; ++i)
    wgmma_f16(sum, a[i], b + 2 * i, i == 0 ? accumulates : 1);
}

template <HopperFormat format, int registers>
__device__ __forceinline__ void multiply_step(float (&sum)[registers], std::uint64_t a,
                                              std::uint64_t b, int accumulates) {
#pragma unroll
  for (int i = 0; i < hopper_step / 16; ++i) {
    if constexpr (format == HopperFormat::bfloat16)
      wgmma_bf16(sum, a + 2 * i, b + 2 * i, i == 0 ? accumulates : 1);
    else
      wgmma_f16(sum, a + 2 * i, b + 2 * i, i == 0 ? accumulates : 1);
  }
}

/// What a thread of the warpgroups that multiply has at the end of a tile.
template <int registers>
struct TileSums {
  const float (&total)[registers];
  const int (&row_exponents)[2];  ///< of its rows of w
  const int (&found)[2];          ///< in these rows, see found_in_row()

  /// The element of y in its row `row` of w, and column 8 group + 2 (lane % 4) + `column`.
  template <HopperFormat format>
  __device__ float y(int group, int row, int column, int x_exponent) const {
    const float value = total[4 * group + 2 * row + column];
    return is_in_parts<format> ? unscaled(value, x_exponent + row_exponents[row]) : value;
  }
};

/// Stores y as it is, but for what marked rows need.
struct StoreSums {
  static constexpr int shared_bytes = 0;

  __device__ void begin() const {}

  template <HopperFormat format, int columns>
  __device__ void finish(const HopperParameters& p, const Unit& unit,
                         const TileSums<columns / 2>& sums) const {
    const int first_n =
        unit.w_tile * hopper_rows + row_of_thread<format>(static_cast<int>(threadIdx.x));
    const int first_m = unit.x_tile * columns + 2 * (threadIdx.x % 4);
    float* const y = p.y + unit.slice * p.slice_stride;
#pragma unroll
    for (int j = 0; j < columns / 8; ++j)
#pragma unroll
      for (int column = 0; column < 2; ++column) {
        const int m = first_m + 8 * j + column;
        if (m >= p.m) continue;
        const int exponent = is_in_parts<format> ? p.x_scales[m].exponent : 0;
#pragma unroll
        for (int row = 0; row < 2; ++row) {
          const int n = first_n + 8 * row;
          if (n < p.n)
            y[m * p.y_row_stride + n * p.y_column_stride] =
                sums.template y<format>(j, row, column, exponent);
        }
      }
  }
};

/// A warpgroup: 64 rows of w by all columns of the tile.
template <HopperFormat format, int columns, class Epilogue>
__device__ void multiply_tiles(const HopperParameters& p,
                               const Shared<format, columns, Epilogue::shared_bytes>& shared,
                               const Epilogue& epilogue) {
  using L = Layout<format, columns, Epilogue::shared_bytes>;
  constexpr int registers = columns / 2;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % warp_size;
  const int warpgroup = thread / warpgroup_size;
  const int tile_row = row_of_thread<format>(thread);
  const auto release = [&](int stage) {
    if (lane == 0) barrier_arrive(shared.empty + 8 * stage);
  };
  const std::uint32_t w_offset = warpgroup * 64 * line_bytes;
  // Of prepared parts the low one is first.
  constexpr int low_offset = 0;
  constexpr int high_offset = w_part_bytes;

  // The first warpgroup has the first turn.
  if (format == HopperFormat::streamed && warpgroup == 1)
    arrive_at_threads(turn_barrier, L::multiplying_threads);
  Ring<L::stages> ring;
  const int units = unit_count(p);
  for (int index = blockIdx.x; index < units; index += gridDim.x) {
    const Unit unit(p, index);
    float total[registers];
    int row_exponents[2] = {0, 0};
    int found[2] = {0, 0};
    if constexpr (format == HopperFormat::split) {
      float sum[registers];
      float cross[registers];
#pragma unroll
      for (int i = 0; i < registers; ++i) total[i] = 0;
      // Where sums are read, only products that add to `cross` may be under way: those of the next
      // step. They keep the tensor cores busy meanwhile.
      int previous = 0;
      const auto multiply_cross = [&](int continues) {
        const std::uint32_t w = shared.w(ring.stage) + w_offset;
        const std::uint32_t x = shared.x(ring.stage);
        barrier_wait(shared.full + 8 * ring.stage, ring.parity);
        wgmma_begin();
        multiply_step<format>(cross, tile_descriptor(w + high_offset),
                              tile_descriptor(x + L::x_part_bytes), continues);
        multiply_step<format>(cross, tile_descriptor(w + low_offset), tile_descriptor(x), 1);
        wgmma_commit();
      };
      const auto multiply_high = [&](int continues) {
        wgmma_begin();
        multiply_step<format>(sum, tile_descriptor(shared.w(ring.stage) + w_offset + high_offset),
                              tile_descriptor(shared.x(ring.stage)), continues);
        wgmma_commit();
        previous = ring.stage;
        ring.advance();
      };
      multiply_cross(0);
      int left = unit.end - unit.begin;
      for (; left > promotion_steps; left -= promotion_steps) {
#pragma unroll
        for (int i = 0; i < promotion_steps; ++i) {
          multiply_high(i);
          multiply_cross(1);
          wgmma_wait<1>();
          release(previous);
        }
        pin(sum);
#pragma unroll
        for (int i = 0; i < registers; ++i) total[i] += sum[i];
      }
      multiply_high(0);
      for (int i = 1; i < left; ++i) {
        multiply_cross(1);
        wgmma_wait<1>();
        release(previous);
        multiply_high(1);
      }
      wgmma_wait<0>();
      pin(sum);
      pin(cross);
      release(previous);
#pragma unroll
      for (int i = 0; i < registers; ++i)
        total[i] += fmaf(cross[i], 1.0f / (1 << low_part_exponent), sum[i]);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int n = unit.w_tile * hopper_rows + tile_row + 8 * i;
        if (n >= p.n) continue;
        row_exponents[i] = p.w_scales[n].exponent;
        found[i] = found_in_row(0, p.w_scales[n].marks);
      }
    } else if constexpr (format == HopperFormat::streamed) {
      float sum[registers];
#pragma unroll
      for (int i = 0; i < registers; ++i) total[i] = 0;
      StreamedRow rows[2];
      StreamedScales scales;
      const std::uint32_t place = place_of_pairs(tile_row, lane);
      for (int step = unit.begin; step < unit.end; ++step) {
        const std::uint64_t x_high = tile_descriptor(shared.x(ring.stage));
        const std::uint64_t x_low = tile_descriptor(shared.x(ring.stage) + L::x_part_bytes);
        barrier_wait(shared.full + 8 * ring.stage, ring.parity);
        StreamedPart high;
        StreamedPart low;
        split_step(shared.w(ring.stage), place, rows, scales, high, low);
        // While one warpgroup multiplies the other one splits.
        wait_for_threads(turn_barrier + warpgroup, L::multiplying_threads);
        wgmma_begin();
        multiply_step(sum, high, x_low, 0);
        multiply_step(sum, low, x_high, 1);
        wgmma_commit();
        wgmma_wait<0>();
        pin(sum);
#pragma unroll
        for (int i = 0; i < registers; ++i) sum[i] *= 1.0f / (1 << low_part_exponent);
        pin(sum);
        wgmma_begin();
        multiply_step(sum, high, x_high, 1);
        wgmma_commit();
        const bool is_last = step + 1 == unit.end && index + static_cast<int>(gridDim.x) >= units;
        if (warpgroup == 0 || !is_last)
          arrive_at_threads(turn_barrier + 1 - warpgroup, L::multiplying_threads);
        wgmma_wait<0>();
        pin(sum);
        __syncwarp();
        release(ring.stage);
#pragma unroll
        for (int i = 0; i < registers; ++i)
          total[i] = fmaf(scales.factor[i / 2 % 2], sum[i], total[i]);
        ring.advance();
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const std::uint32_t marks = rows[i].all_marks();
        row_exponents[i] = rows[i].exponent();
        found[i] = found_in_row(scale_exponent(rows[i].largest), marks);
        const int n = unit.w_tile * hopper_rows + tile_row + 8 * i;
        if (lane % 4 != 0 || n >= p.n) continue;
        const std::int64_t place = unit.slice * static_cast<std::int64_t>(p.n) + n;
        p.w_scales[place] = streamed_scale(p, found[i]);
        p.w_states[place] = marks != 0 ? state_marked : 0;
      }
    } else {
      int previous = 0;
      for (int step = unit.begin; step < unit.end; ++step) {
        const std::uint32_t w = shared.w(ring.stage) + w_offset;
        const std::uint32_t x = shared.x(ring.stage);
        barrier_wait(shared.full + 8 * ring.stage, ring.parity);
        wgmma_begin();
        multiply_step<format>(total, tile_descriptor(w), tile_descriptor(x), step != unit.begin);
        wgmma_commit();
        wgmma_wait<1>();
        if (step != unit.begin) release(previous);
        previous = ring.stage;
        ring.advance();
      }
      wgmma_wait<0>();
      pin(total);
      release(previous);
    }

    // Nothing that the sums are made of stays in registers from here on.
    pin(total);
    epilogue.template finish<format, columns>(p, unit,
                                              TileSums<registers>{total, row_exponents, found});
  }
}

/// A block of a kernel: tiles of y, each of which is given to `epilogue`.
template <HopperFormat format, int columns, class Epilogue>
__device__ void hopper_block(const HopperParameters& p, const Epilogue& epilogue) {
  using L = Layout<format, columns, Epilogue::shared_bytes>;
  extern __shared__ unsigned char dynamic_memory[];
  __shared__ alignas(8) std::uint64_t barriers[2][L::stages];

  Shared<format, columns, Epilogue::shared_bytes> shared;
  shared.tiles = (shared_address(dynamic_memory) + 1023) / 1024 * 1024;
  shared.full = shared_address(barriers[0]);
  shared.empty = shared_address(barriers[1]);
  if (threadIdx.x == 0) {
    prefetch_map(p.x_map);
    prefetch_map(p.w_map);
    for (int i = 0; i < L::stages; ++i) {
      barrier_create(shared.full + 8 * i, 1);
      barrier_create(shared.empty + 8 * i, multiplying_warps);
    }
    barrier_publish();
  }
  wait_for_kernel_before();
  if (p.unless != nullptr && *p.unless != 0) return;
  __syncthreads();

  if (threadIdx.x < L::multiplying_threads) {
    take_registers<232>();
    epilogue.begin();
    multiply_tiles<format, columns>(p, shared, epilogue);
  } else {
    give_registers<40>();
    if (threadIdx.x == L::multiplying_threads) copy_tiles(p, shared);
  }
}

}  // namespace detail
}  // namespace postlude

#endif
