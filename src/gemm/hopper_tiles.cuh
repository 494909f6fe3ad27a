#ifndef POSTLUDE_GEMM_HOPPER_TILES_CUH
#define POSTLUDE_GEMM_HOPPER_TILES_CUH

#include <cstdint>

#include "gemm/hopper_primitives.cuh"
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

/// A line of a tile: 64 elements of two bytes, or 32 of float32.
constexpr int line_bytes = 128;
constexpr int w_part_bytes = hopper_rows * line_bytes;
constexpr int most_stages = 8;
constexpr int shared_bytes_of_block = 227 * 1024;

constexpr std::uint32_t infinity_bits = 0x7f800000u;
/// As in split_kernels: the largest scaled magnitude is in [2^14, 2^15).
constexpr int top_exponent = 14;
/// From here on a scaled element keeps all of its bits: 2^-14.
constexpr float narrowest = 1.0f / (1 << 14);
/// Named barriers at which warpgroups that split w wait for their turn to multiply, one for each;
/// 1 is the epilogue's.
constexpr int turn_barrier = 2;
/// Steps after which a sum of high products is promoted.
constexpr int promotion_steps = 1;
constexpr int least_biased_exponent = 15;
/// Blocks of a streamed row may differ by this power of two, in either direction.
constexpr int largest_spread = 60;

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

constexpr int no_reference = 1 << 20;

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

/// What is known of a row of w that was streamed.
__device__ inline RowScale streamed_scale(const HopperParameters& p, int found) {
  RowScale scale;
  scale.exponent = found >> 2;
  scale.marks = static_cast<std::uint32_t>(found) & 3u;
  scale.sum = static_cast<float>(p.steps * hopper_step) * (1 << (top_exponent + 1));
  return scale;
}

/// The row of w in its tile that is the first of two, eight apart, of this thread: a warp has 16
/// rows, of which four lanes have one each, and the second warpgroup follows the first. Of a
/// streamed w the even rows come before the odd ones, so that the sixteen lanes whose pairs are
/// read at once find them in different banks.
template <HopperFormat format>
__device__ int row_of_thread(int thread) {
  const int quad = thread % warp_size / 4;
  const int row_in_eight = format != HopperFormat::streamed ? quad
                           : quad < 4                       ? 2 * quad
                                                            : 2 * quad - 7;
  return thread / warp_size * 16 + row_in_eight;
}

/// What a thread has found out about one of its rows of w as it streams.
struct StreamedRow {
  std::uint32_t largest = 0;  ///< bits of the largest magnitude that is finite
  std::uint32_t marks = 0;    ///< of the elements of this thread
  int reference = no_reference;

  /// Takes note of 64 of k, whose largest magnitude has these bits, and returns the factor of their
  /// products, the reference being the exponent of the sum.
  __device__ float take(std::uint32_t bits) {
    if (bits >= infinity_bits) {
      marks |= row_is_not_finite;
      bits = 0;
    }
    const int exponent = block_exponent(bits);
    if (reference == no_reference && bits != 0) reference = exponent;
    largest = max(largest, bits);
    const int spread = exponent - reference;
    const int limited = max(-largest_spread, min(largest_spread, spread));
    if (bits != 0 && limited != spread) marks |= row_is_not_finite;
    return bits == 0 ? 0.0f : power_of_two(-limited);
  }

  __device__ int exponent() const { return reference == no_reference ? 0 : reference; }
};

/// 64 of k in two rows of w, eight apart, as matrix instructions take them from registers: four of
/// 16 of k, each of four pairs.
struct SplitStep {
  std::uint32_t high[hopper_step / 16][4];
  std::uint32_t low[hopper_step / 16][4];
  float factors[2];
};

/// Where a thread's pairs of elements are, from the beginning of a tile of w in float32: the lines
/// of a row have 32 of k each, and their 16-byte chunks are swizzled.
struct PairPlaces {
  std::uint32_t of_chunk[2][2];  ///< of the first and second 16 and, in them, 8 of a line

  __device__ explicit PairPlaces(int thread) {
    const std::uint32_t row =
        static_cast<std::uint32_t>(row_of_thread<HopperFormat::streamed>(thread));
    const std::uint32_t lane = static_cast<std::uint32_t>(thread) % 4;
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i)
      of_chunk[i / 2][i % 2] =
          row * line_bytes + (((2 * i + lane / 2) ^ row % 8) << 4) + lane % 2 * 8;
  }
};

/// Splits the thread's pairs of 64 of k.
__device__ __forceinline__ void split_step(std::uint32_t tile, const PairPlaces& places,
                                           StreamedRow (&rows)[2], SplitStep& step) {
  constexpr int blocks = hopper_step / 16;
  float2 values[blocks][4];
#pragma unroll
  for (int block = 0; block < blocks; ++block)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      values[block][i] = load_two(tile + places.of_chunk[block % 2][i / 2] +
                                  block / 2 * w_part_bytes + i % 2 * 8 * line_bytes);
  // As a tree: waiting for each other would take longer than computing.
  float found[blocks][4];
#pragma unroll
  for (int block = 0; block < blocks; ++block)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      found[block][i] = larger_magnitude(values[block][i].x, values[block][i].y);
#pragma unroll
  for (int half = blocks / 2; half > 0; half /= 2)
#pragma unroll
    for (int block = 0; block < half; ++block)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        found[block][i] = larger_magnitude(found[block][i], found[block + half][i]);
  float largest[2] = {larger_magnitude(found[0][0], found[0][2]),
                      larger_magnitude(found[0][1], found[0][3])};
#pragma unroll
  for (int distance = 1; distance <= 2; distance *= 2)
#pragma unroll
    for (float& each : largest)
      each = larger_magnitude(each, __shfl_xor_sync(whole_warp, each, distance));
  float scale[2];
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const std::uint32_t bits = __float_as_uint(largest[row]);
    step.factors[row] = rows[row].take(bits);
    scale[row] = power_of_two(block_exponent(bits));
    // The row will be computed from its elements: nothing of it must reach the sums.
    if (bits >= infinity_bits)
#pragma unroll
      for (int block = 0; block < blocks; ++block)
#pragma unroll
        for (int half = 0; half < 2; ++half) values[block][row + 2 * half] = make_float2(0, 0);
  }
  float least = narrowest;
#pragma unroll
  for (int block = 0; block < blocks; ++block)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float a = values[block][i].x * scale[i % 2];
      const float b = values[block][i].y * scale[i % 2];
      least = fminf(fminf(least, fabsf(a)), fabsf(b));
      const std::uint32_t high = halves_of(a, b);
      const float2 taken = floats_of(high);
      step.high[block][i] = high;
      step.low[block][i] = halves_of((a - taken.x) * (1 << low_part_exponent),
                                     (b - taken.y) * (1 << low_part_exponent));
    }
  if (least < narrowest) {
#pragma unroll
    for (int block = 0; block < blocks; ++block)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float a = values[block][i].x;
        const float b = values[block][i].y;
        if ((a != 0 && fabsf(a * scale[i % 2]) < narrowest) ||
            (b != 0 && fabsf(b * scale[i % 2]) < narrowest))
          rows[i % 2].marks |= row_is_wide;
      }
  }
}

template <int registers>
__device__ __forceinline__ void multiply_step(float (&sum)[registers],
                                              const std::uint32_t (&a)[hopper_step / 16][4],
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
      const PairPlaces places(thread);
      for (int step = unit.begin; step < unit.end; ++step) {
        const std::uint64_t x_high = tile_descriptor(shared.x(ring.stage));
        const std::uint64_t x_low = tile_descriptor(shared.x(ring.stage) + L::x_part_bytes);
        barrier_wait(shared.full + 8 * ring.stage, ring.parity);
        SplitStep split;
        split_step(shared.w(ring.stage), places, rows, split);
        // While one warpgroup multiplies the other one splits.
        wait_for_threads(turn_barrier + warpgroup, L::multiplying_threads);
        wgmma_begin();
        multiply_step(sum, split.high, x_low, 0);
        multiply_step(sum, split.low, x_high, 1);
        wgmma_commit();
        wgmma_wait<0>();
        pin(sum);
#pragma unroll
        for (int i = 0; i < registers; ++i) sum[i] *= 1.0f / (1 << low_part_exponent);
        pin(sum);
        wgmma_begin();
        multiply_step(sum, split.high, x_high, 1);
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
          total[i] = fmaf(split.factors[i / 2 % 2], sum[i], total[i]);
        ring.advance();
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        std::uint32_t marks = rows[i].marks;
        marks |= __shfl_xor_sync(whole_warp, marks, 1);
        marks |= __shfl_xor_sync(whole_warp, marks, 2);
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
