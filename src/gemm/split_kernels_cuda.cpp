#include "gemm/split_kernels.hpp"

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "gemm/cuda_status.hpp"
#include "gemm/split_recompute.cuh"

namespace postlude {
namespace detail {
namespace {

constexpr std::uint32_t magnitude_bits = 0x7fffffffu;
constexpr std::uint32_t infinity_bits = 0x7f800000u;
/// The largest scaled magnitude of a row is in [2^14, 2^15).
constexpr int top_exponent = 14;
/// From here on the high part is a normal number: 2^-14.
constexpr float narrowest = 1.0f / (1 << 14);

/// Elements that a thread takes at a time: one 16-byte store of float16.
constexpr int packet = 8;

/// Whether a word on the device tells this launch to do nothing.
__device__ bool is_called_off(const int* unless) { return unless != nullptr && *unless != 0; }

/// Magnitudes of a row as bit patterns, which order as the magnitudes do.
struct Extrema {
  std::uint32_t largest = 0;
  std::uint32_t smallest_complement = 0;
  std::uint32_t is_not_finite = 0;

  __device__ void add(float value) {
    const std::uint32_t bits = __float_as_uint(value) & magnitude_bits;
    if (bits >= infinity_bits) {
      is_not_finite = 1;
      return;
    }
    largest = max(largest, bits);
    if (bits != 0) smallest_complement = max(smallest_complement, ~bits);
  }

  __device__ void combine(const Extrema& other) {
    largest = max(largest, other.largest);
    smallest_complement = max(smallest_complement, other.smallest_complement);
    is_not_finite |= other.is_not_finite;
  }
};

/// A row's power of two. It can be beyond float32's range, so it is applied in two factors.
struct Scaling {
  int exponent = 0;
  float first = 1;
  float second = 1;

  __device__ explicit Scaling(std::uint32_t largest) {
    if (largest != 0) {
      // Of a subnormal number the position of the leading bit counts.
      const int magnitude = largest >> 23 != 0 ? static_cast<int>(largest >> 23) - 127
                                               : -118 - __clz(static_cast<int>(largest));
      exponent = top_exponent - magnitude;
    }
    const int half = exponent / 2;
    first = power_of_two(half);
    second = power_of_two(exponent - half);
  }

  __device__ float apply(float value) const { return value * first * second; }
};

__device__ bool is_wide(const Extrema& extrema, const Scaling& scaling) {
  return extrema.smallest_complement != 0 &&
         scaling.apply(__uint_as_float(~extrema.smallest_complement)) < narrowest;
}

__device__ std::uint32_t marks_of(const Extrema& extrema, const Scaling& scaling) {
  return (extrema.is_not_finite != 0 ? row_is_not_finite : 0u) |
         (is_wide(extrema, scaling) ? row_is_wide : 0u);
}

__device__ bool has_factor(int exponent) {
  return exponent >= 0 && exponent <= largest_factor_exponent;
}

__device__ void store_scale(const SplitMatrix& matrix, std::int64_t r, int exponent,
                            std::uint32_t marks, float sum) {
  matrix.scales[r] = {exponent, marks, sum, -1};
  matrix.states[r] = static_cast<std::uint8_t>((marks != 0 ? state_marked : 0) |
                                               (has_factor(exponent) ? 0 : state_without_factor));
}

struct Parts {
  __half high;
  __half low;
};

/// Both parts of a scaled element; of NaN and infinities, zeros. The remainder is exact.
__device__ Parts split(float scaled) {
  if ((__float_as_uint(scaled) & magnitude_bits) >= infinity_bits) scaled = 0;
  const __half high = __float2half_rn(scaled);
  const float rest = scaled - __half2float(high);
  return {high, __float2half_rn(rest * (1 << low_part_exponent))};
}

__device__ Extrema combine_in_warp(Extrema extrema) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    Extrema other;
    other.largest = __shfl_xor_sync(whole_warp, extrema.largest, distance);
    other.smallest_complement = __shfl_xor_sync(whole_warp, extrema.smallest_complement, distance);
    other.is_not_finite = __shfl_xor_sync(whole_warp, extrema.is_not_finite, distance);
    extrema.combine(other);
  }
  return extrema;
}

template <int threads>
__device__ Extrema combine_in_block(Extrema extrema) {
  __shared__ Extrema warps[threads / warp_size];
  extrema = combine_in_warp(extrema);
  if (threadIdx.x % warp_size == 0) warps[threadIdx.x / warp_size] = extrema;
  __syncthreads();
  Extrema total = warps[0];
  for (int warp = 1; warp < threads / warp_size; ++warp) total.combine(warps[warp]);
  return total;
}

/// The sum over a block, in thread 0.
template <int threads>
__device__ float sum_in_block(float sum) {
  __shared__ float warps[threads / warp_size];
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(whole_warp, sum, distance);
  if (threadIdx.x % warp_size == 0) warps[threadIdx.x / warp_size] = sum;
  __syncthreads();
  float total = 0;
  for (int warp = 0; warp < threads / warp_size; ++warp) total += warps[warp];
  return total;
}

/// Elements begin to begin + 7 of a contiguous row, zeros beyond its end.
template <bool is_aligned>
__device__ void load_packet(const float* row, std::int64_t begin, std::int64_t k,
                            float (&values)[packet]) {
  if (is_aligned && begin + packet <= k) {
    const float4 first = __ldcs(reinterpret_cast<const float4*>(row + begin));
    const float4 second = __ldcs(reinterpret_cast<const float4*>(row + begin) + 1);
    values[0] = first.x;
    values[1] = first.y;
    values[2] = first.z;
    values[3] = first.w;
    values[4] = second.x;
    values[5] = second.y;
    values[6] = second.z;
    values[7] = second.w;
    return;
  }
#pragma unroll
  for (int i = 0; i < packet; ++i) values[i] = begin + i < k ? row[begin + i] : 0.0f;
}

/// Writes both parts of a packet; returns the sum of its scaled magnitudes.
__device__ float store_packet(const float (&values)[packet], const Scaling& scaling, __half* high,
                              __half* low) {
  alignas(16) __half highs[packet];
  alignas(16) __half lows[packet];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < packet; ++i) {
    const float scaled = scaling.apply(values[i]);
    const Parts parts = split(scaled);
    highs[i] = parts.high;
    lows[i] = parts.low;
    if ((__float_as_uint(scaled) & magnitude_bits) < infinity_bits) sum += fabsf(scaled);
  }
  *reinterpret_cast<uint4*>(high) = *reinterpret_cast<const uint4*>(highs);
  *reinterpret_cast<uint4*>(low) = *reinterpret_cast<const uint4*>(lows);
  return sum;
}

/// One block for each row, which it holds in registers between looking for the largest element and
/// splitting.
template <int threads, int packets, bool is_aligned>
__global__ void __launch_bounds__(threads, 1024 / threads)
    split_held_row(const SplitSource source, const SplitMatrix matrix) {
  if (is_called_off(matrix.unless)) return;
  const std::int64_t r = blockIdx.x;
  const float* row = source.data + r * source.row_stride;
  float values[packets][packet];
  Extrema extrema;
#pragma unroll
  for (int p = 0; p < packets; ++p)
    load_packet<is_aligned>(row, (std::int64_t(p) * threads + threadIdx.x) * packet, source.k,
                            values[p]);
#pragma unroll
  for (int p = 0; p < packets; ++p)
#pragma unroll
    for (int i = 0; i < packet; ++i) extrema.add(values[p][i]);
  extrema = combine_in_block<threads>(extrema);
  const Scaling scaling(extrema.largest);
  __half* parts = static_cast<__half*>(matrix.parts) + 2 * r * matrix.padded_k;
  __half* high = parts + (matrix.low_first ? matrix.padded_k : 0);
  __half* low = parts + (matrix.low_first ? 0 : matrix.padded_k);
  float sum = 0;
#pragma unroll
  for (int p = 0; p < packets; ++p) {
    const std::int64_t begin = (std::int64_t(p) * threads + threadIdx.x) * packet;
    if (begin < matrix.padded_k) sum += store_packet(values[p], scaling, high + begin, low + begin);
  }
  sum = sum_in_block<threads>(sum);
  if (threadIdx.x == 0) store_scale(matrix, r, scaling.exponent, marks_of(extrema, scaling), sum);
}

/// Threads that split_streamed_rows() has for a row, and rows that are under way to each block: so
/// many bytes that memory never waits for the arithmetic.
constexpr int stream_threads = 1024;
constexpr int stream_rows = 3;
constexpr int stream_warps = stream_threads / warp_size;

__device__ void store_quad(const float4& value, const Scaling& scaling, bool is_finite,
                           __half* high, __half* low, float& sum) {
  float scaled[4] = {scaling.apply(value.x), scaling.apply(value.y), scaling.apply(value.z),
                     scaling.apply(value.w)};
  if (!is_finite)
    for (float& each : scaled)
      if ((__float_as_uint(each) & magnitude_bits) >= infinity_bits) each = 0;
  alignas(8) __half2 highs[2];
  alignas(8) __half2 lows[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float a = scaled[2 * i];
    const float b = scaled[2 * i + 1];
    highs[i] = __floats2half2_rn(a, b);
    const float2 taken = __half22float2(highs[i]);
    lows[i] = __floats2half2_rn((a - taken.x) * (1 << low_part_exponent),
                                (b - taken.y) * (1 << low_part_exponent));
    sum += fabsf(a) + fabsf(b);
  }
  *reinterpret_cast<uint2*>(high) = *reinterpret_cast<const uint2*>(highs);
  *reinterpret_cast<uint2*>(low) = *reinterpret_cast<const uint2*>(lows);
}

/// For many rows of a few thousand elements: every block takes rows at a distance of the grid, and
/// copies the next ones to shared memory while it splits one. A thread reads what it has copied
/// itself, so that only the reduction over the row has to wait for others.
template <int quads>
__global__ void __launch_bounds__(stream_threads, 1)
    split_streamed_rows(const SplitSource source, const SplitMatrix matrix) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if (is_called_off(matrix.unless)) return;
  extern __shared__ float4 buffers[];
  __shared__ uint2 extremes[2][stream_warps];
  __shared__ float sums[2][stream_warps];
  const int length = static_cast<int>(source.k / 4);
  const int lane = threadIdx.x % warp_size;
  const int warp = threadIdx.x / warp_size;
  // From the last row on: what a GEMM reads first is then what is still in the cache.
  const auto row_at = [&](std::int64_t turn) { return source.rows - 1 - turn; };
  const auto fetch = [&](std::int64_t turn, int buffer) {
    if (turn < source.rows) {
      const auto* row =
          reinterpret_cast<const float4*>(source.data + row_at(turn) * source.row_stride);
#pragma unroll
      for (int q = 0; q < quads; ++q) {
        const int i = q * stream_threads + threadIdx.x;
        if (i < length) __pipeline_memcpy_async(&buffers[buffer * length + i], row + i, 16);
      }
    }
    __pipeline_commit();
  };
  for (int i = 0; i < stream_rows; ++i) fetch(blockIdx.x + std::int64_t(i) * gridDim.x, i);

  int buffer = 0;
  int parity = 0;
  std::int64_t before = -1;  // the row whose sum is still to be written
  int exponent_before = 0;
  std::uint32_t marks_before = 0;
  const auto finish_before = [&] {
    if (before < 0 || warp != 0) return;
    float sum = sums[parity ^ 1][lane];
    for (int distance = warp_size / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(whole_warp, sum, distance);
    if (lane == 0) store_scale(matrix, before, exponent_before, marks_before, sum);
  };
  for (std::int64_t turn = blockIdx.x; turn < source.rows; turn += gridDim.x) {
    const std::int64_t r = row_at(turn);
    __pipeline_wait_prior(stream_rows - 1);
    float4 values[quads];
    std::uint32_t largest = 0;
    std::uint32_t least = ~0u;  // of bits - 1, which is largest for zero
#pragma unroll
    for (int q = 0; q < quads; ++q) {
      const int i = q * stream_threads + threadIdx.x;
      values[q] = i < length ? buffers[buffer * length + i] : make_float4(0, 0, 0, 0);
      for (const float each : {values[q].x, values[q].y, values[q].z, values[q].w}) {
        const std::uint32_t bits = __float_as_uint(each) & magnitude_bits;
        largest = max(largest, bits);
        least = min(least, bits - 1);
      }
    }
    largest = __reduce_max_sync(whole_warp, largest);
    least = __reduce_min_sync(whole_warp, least);
    if (lane == 0) extremes[parity][warp] = make_uint2(largest, least);
    __syncthreads();
    fetch(turn + std::int64_t(stream_rows) * gridDim.x, buffer);
    finish_before();
    const uint2 of_warp = extremes[parity][lane];
    Extrema extrema;
    extrema.largest = __reduce_max_sync(whole_warp, of_warp.x);
    extrema.smallest_complement = ~(__reduce_min_sync(whole_warp, of_warp.y) + 1);
    if (extrema.smallest_complement == ~0u) extrema.smallest_complement = 0;  // all zeros
    const bool is_finite = extrema.largest < infinity_bits;
    if (!is_finite) {
      extrema = Extrema();
#pragma unroll
      for (int q = 0; q < quads; ++q)
        for (const float each : {values[q].x, values[q].y, values[q].z, values[q].w})
          extrema.add(each);
      extrema = combine_in_block<stream_threads>(extrema);
    }
    const Scaling scaling(extrema.largest);
    __half* parts = static_cast<__half*>(matrix.parts) + 2 * r * matrix.padded_k;
    __half* high = parts + (matrix.low_first ? matrix.padded_k : 0);
    __half* low = parts + (matrix.low_first ? 0 : matrix.padded_k);
    float sum = 0;
#pragma unroll
    for (int q = 0; q < quads; ++q) {
      const int begin = (q * stream_threads + threadIdx.x) * 4;
      if (begin < matrix.padded_k)
        store_quad(values[q], scaling, is_finite, high + begin, low + begin, sum);
    }
    for (int distance = warp_size / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(whole_warp, sum, distance);
    if (lane == 0) sums[parity][warp] = sum;
    before = r;
    exponent_before = scaling.exponent;
    marks_before = marks_of(extrema, scaling);
    buffer = buffer + 1 == stream_rows ? 0 : buffer + 1;
    parity ^= 1;
  }
  __syncthreads();
  finish_before();
#else
  (void)source;
  (void)matrix;
#endif
}

/// One block for each row, which it reads twice.
template <int threads, bool is_aligned>
__global__ void __launch_bounds__(threads)
    split_long_row(const SplitSource source, const SplitMatrix matrix) {
  if (is_called_off(matrix.unless)) return;
  const std::int64_t r = blockIdx.x;
  const float* row = source.data + r * source.row_stride;
  Extrema extrema;
  float values[packet];
  for (std::int64_t begin = threadIdx.x * packet; begin < matrix.padded_k;
       begin += threads * packet) {
    load_packet<is_aligned>(row, begin, source.k, values);
#pragma unroll
    for (int i = 0; i < packet; ++i) extrema.add(values[i]);
  }
  extrema = combine_in_block<threads>(extrema);
  const Scaling scaling(extrema.largest);
  __half* parts = static_cast<__half*>(matrix.parts) + 2 * r * matrix.padded_k;
  __half* high = parts + (matrix.low_first ? matrix.padded_k : 0);
  __half* low = parts + (matrix.low_first ? 0 : matrix.padded_k);
  float sum = 0;
  for (std::int64_t begin = threadIdx.x * packet; begin < matrix.padded_k;
       begin += threads * packet) {
    load_packet<is_aligned>(row, begin, source.k, values);
    sum += store_packet(values, scaling, high + begin, low + begin);
  }
  sum = sum_in_block<threads>(sum);
  if (threadIdx.x == 0) store_scale(matrix, r, scaling.exponent, marks_of(extrema, scaling), sum);
}

// Rows whose elements are apart, as those of a column-major matrix: neighbouring threads read
// neighbouring rows, and tiles are turned in shared memory before they are written.

constexpr int tile_rows = 32;
constexpr int tile_columns = 64;
constexpr int tile_lines = 8;  ///< threads along k

/// Columns that one block of find_extrema() looks through.
constexpr std::int64_t extrema_columns = 512;

__global__ void __launch_bounds__(tile_rows* tile_lines)
    find_extrema(const SplitSource source, RowExtrema* extrema, std::int64_t row_tiles,
                 const int* unless) {
  if (is_called_off(unless)) return;
  const std::int64_t r = blockIdx.x % row_tiles * tile_rows + threadIdx.x;
  const std::int64_t begin = blockIdx.x / row_tiles * extrema_columns;
  const std::int64_t end = min(begin + extrema_columns, source.k);
  Extrema found;
  if (r < source.rows)
    for (std::int64_t k = begin + threadIdx.y; k < end; k += tile_lines)
      found.add(source.data[r * source.row_stride + k * source.column_stride]);
  __shared__ Extrema lines[tile_lines][tile_rows];
  lines[threadIdx.y][threadIdx.x] = found;
  __syncthreads();
  if (threadIdx.y != 0 || r >= source.rows) return;
  for (int line = 1; line < tile_lines; ++line) found.combine(lines[line][threadIdx.x]);
  // Largest values do not depend on the order in which they are found.
  atomicMax(&extrema[r].largest, found.largest);
  atomicMax(&extrema[r].smallest_complement, found.smallest_complement);
  if (found.is_not_finite != 0) atomicOr(&extrema[r].is_not_finite, 1u);
}

__global__ void __launch_bounds__(tile_rows* tile_lines)
    split_tile(const SplitSource source, const SplitMatrix matrix, const RowExtrema* extrema,
               std::int64_t row_tiles) {
  if (is_called_off(matrix.unless)) return;
  const std::int64_t first_row = blockIdx.x % row_tiles * tile_rows;
  const std::int64_t first_column = blockIdx.x / row_tiles * tile_columns;
  __shared__ float tile[tile_rows][tile_columns + 1];
  const std::int64_t r = first_row + threadIdx.x;
  if (r < source.rows) {
    Extrema found;
    found.largest = extrema[r].largest;
    found.smallest_complement = extrema[r].smallest_complement;
    found.is_not_finite = extrema[r].is_not_finite;
    const Scaling scaling(found.largest);
    for (int column = threadIdx.y; column < tile_columns; column += tile_lines) {
      const std::int64_t k = first_column + column;
      tile[threadIdx.x][column] =
          k < source.k
              ? scaling.apply(source.data[r * source.row_stride + k * source.column_stride])
              : 0.0f;
    }
    if (first_column == 0 && threadIdx.y == 0)
      store_scale(matrix, r, scaling.exponent, marks_of(found, scaling),
                  static_cast<float>(source.k) * (1 << (top_exponent + 1)));
  }
  __syncthreads();
  constexpr int packets_in_row = tile_columns / packet;
  const int thread = threadIdx.y * tile_rows + threadIdx.x;
  const int row = thread / packets_in_row;
  const int column = thread % packets_in_row * packet;
  if (first_row + row >= source.rows || first_column + column >= matrix.padded_k) return;
  __half* parts = static_cast<__half*>(matrix.parts) + 2 * (first_row + row) * matrix.padded_k +
                  first_column + column;
  float values[packet];
#pragma unroll
  for (int i = 0; i < packet; ++i) values[i] = tile[row][column + i];
  store_packet(values, Scaling(0), parts + (matrix.low_first ? matrix.padded_k : 0),
               parts + (matrix.low_first ? 0 : matrix.padded_k));
}

template <int threads, int packets>
void launch_held(const SplitSource& source, const SplitMatrix& matrix, bool is_aligned,
                 cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(source.rows);
  if (is_aligned)
    split_held_row<threads, packets, true><<<blocks, threads, 0, stream>>>(source, matrix);
  else
    split_held_row<threads, packets, false><<<blocks, threads, 0, stream>>>(source, matrix);
}

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  require_success(cudaGetDevice(&device), "cudaGetDevice");
  require_success(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

/// False when the rows do not fit shared memory.
template <int quads>
bool launch_streamed(const SplitSource& source, const SplitMatrix& matrix, cudaStream_t stream) {
  const int bytes = stream_rows * static_cast<int>(source.k) * static_cast<int>(sizeof(float));
  const int blocks = device_attribute(cudaDevAttrMultiProcessorCount);
  // A few rows for each block, else nothing is under way while it splits.
  constexpr int static_bytes = 2048;
  if (source.rows < 4 * blocks ||
      bytes + static_bytes > device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))
    return false;
  require_success(cudaFuncSetAttribute(split_streamed_rows<quads>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                  "cudaFuncSetAttribute");
  split_streamed_rows<quads>
      <<<static_cast<unsigned>(blocks), stream_threads, static_cast<std::size_t>(bytes), stream>>>(
          source, matrix);
  return true;
}

void split_contiguous(const SplitSource& source, const SplitMatrix& matrix, cudaStream_t stream) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(source.data) % 16 == 0 &&
                          (source.rows == 1 || source.row_stride % 4 == 0);
  constexpr std::int64_t quad_row = std::int64_t(4) * stream_threads;
  if (is_aligned && source.k % 4 == 0 && source.k > quad_row / 2 && source.k <= 4 * quad_row) {
    const bool is_launched = source.k <= quad_row ? launch_streamed<1>(source, matrix, stream)
                             : source.k <= 2 * quad_row
                                 ? launch_streamed<2>(source, matrix, stream)
                                 : launch_streamed<4>(source, matrix, stream);
    if (is_launched) return;
  }
  if (matrix.padded_k <= 128 * 2 * packet)
    return launch_held<128, 2>(source, matrix, is_aligned, stream);
  if (matrix.padded_k <= 128 * 4 * packet)
    return launch_held<128, 4>(source, matrix, is_aligned, stream);
  if (matrix.padded_k <= 256 * 4 * packet)
    return launch_held<256, 4>(source, matrix, is_aligned, stream);
  if (matrix.padded_k <= 512 * 4 * packet)
    return launch_held<512, 4>(source, matrix, is_aligned, stream);
  const auto blocks = static_cast<unsigned>(source.rows);
  if (is_aligned)
    split_long_row<512, true><<<blocks, 512, 0, stream>>>(source, matrix);
  else
    split_long_row<512, false><<<blocks, 512, 0, stream>>>(source, matrix);
}

void split_apart(const SplitSource& source, const SplitMatrix& matrix, RowExtrema* extrema,
                 cudaStream_t stream) {
  require_success(
      cudaMemsetAsync(extrema, 0, sizeof(RowExtrema) * static_cast<std::size_t>(source.rows),
                      stream),
      "cudaMemsetAsync");
  const dim3 threads(tile_rows, tile_lines);
  const std::int64_t row_tiles = (source.rows + tile_rows - 1) / tile_rows;
  const std::int64_t parts = (source.k + extrema_columns - 1) / extrema_columns;
  find_extrema<<<static_cast<unsigned>(row_tiles * parts), threads, 0, stream>>>(
      source, extrema, row_tiles, matrix.unless);
  const std::int64_t column_tiles = (matrix.padded_k + tile_columns - 1) / tile_columns;
  split_tile<<<static_cast<unsigned>(row_tiles * column_tiles), threads, 0, stream>>>(
      source, matrix, extrema, row_tiles);
}

/// y at (m, n) for every lane; all lanes of a warp take part, `is_inside` or not.
__device__ float finished(const SplitFactor& x, const RowScale& x_scale, const SplitFactor& w,
                          const RowScale& w_scale, std::int64_t m, std::int64_t n, bool is_inside,
                          double product) {
  const bool is_lost = is_inside && must_recompute(x_scale, w_scale, product);
  const double exact = recompute(x, x_scale, w, w_scale, m, n, is_lost);
  return static_cast<float>(
      is_lost ? exact : product * power_of_two_double(-(x_scale.exponent + w_scale.exponent)));
}

__device__ double product_at(const SplitResult& result, std::int64_t m, std::int64_t n) {
  const float* row = result.product + (result.has_low_rows ? 2 * m : m) * result.leading_dimension;
  const double high = static_cast<double>(row[n]);
  if (!result.has_low_rows) return high;
  return high + static_cast<double>(row[result.leading_dimension + n]) / (1 << low_part_exponent);
}

constexpr int finish_threads = 128;
constexpr int finish_columns = 4 * finish_threads;
constexpr int finish_rows = 8;

__device__ void load_four(const float* from, float (&values)[4]) {
  const float4 loaded = *reinterpret_cast<const float4*>(from);
  values[0] = loaded.x;
  values[1] = loaded.y;
  values[2] = loaded.z;
  values[3] = loaded.w;
}

/// For y whose rows are contiguous: four columns and a few rows for each thread.
__global__ void __launch_bounds__(finish_threads)
    finish_rows_of_y(const SplitFactor x, const SplitFactor w, const SplitResult result,
                     std::int64_t column_blocks) {
  const std::int64_t n = (blockIdx.x % column_blocks * finish_threads + threadIdx.x) * 4;
  const std::int64_t begin = blockIdx.x / column_blocks * finish_rows;
  const std::int64_t end = min(begin + finish_rows, result.m);
  RowScale scales[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (n + i < result.n) scales[i] = w.scales[n + i];
  const bool is_read = n < result.n;
  for (std::int64_t m = begin; m < end; ++m) {
    const RowScale x_scale = x.scales[m];
    const float* row =
        result.product + (result.has_low_rows ? 2 * m : m) * result.leading_dimension + n;
    float high[4] = {};
    float low[4] = {};
    if (is_read) load_four(row, high);
    if (is_read && result.has_low_rows) load_four(row + result.leading_dimension, low);
    float y[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const double product =
          static_cast<double>(high[i]) + static_cast<double>(low[i]) / (1 << low_part_exponent);
      y[i] = finished(x, x_scale, w, scales[i], m, n + i, n + i < result.n, product);
    }
    float* to = result.y + m * result.y_row_stride + n;
    if (n + 4 <= result.n && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
      *reinterpret_cast<float4*>(to) = make_float4(y[0], y[1], y[2], y[3]);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (n + i < result.n) to[i] = y[i];
    }
  }
}

constexpr int settle_threads = 256;

/// Whether any row is in a state of these, and in which.
__device__ std::uint32_t states_of(const SplitFactor& factor) {
  std::uint32_t found = 0;
  const std::int64_t packets = factor.source.rows / 16;
  for (std::int64_t i = threadIdx.x; i < packets; i += settle_threads) {
    const uint4 states = reinterpret_cast<const uint4*>(factor.states)[i];
    found |= states.x | states.y | states.z | states.w;
  }
  for (std::int64_t r = packets * 16 + threadIdx.x; r < factor.source.rows; r += settle_threads)
    found |= factor.states[r];
  return found | found >> 8 | found >> 16 | found >> 24;
}

__device__ void write_factors(const SplitFactor& factor, bool is_factored, float* factors) {
  for (std::int64_t r = blockIdx.x * std::int64_t(settle_threads) + threadIdx.x;
       r < factor.source.rows; r += std::int64_t(gridDim.x) * settle_threads)
    factors[r] = is_factored ? power_of_two(-factor.scales[r].exponent) : 1.0f;
}

/// Each thread takes four elements of a line at a time.
__global__ void __launch_bounds__(settle_threads)
    settle_lines(const SplitFactor of_line, const SplitFactor of_element,
                 const SplitProduct product, std::int64_t element_blocks) {
  __shared__ std::uint32_t found[2];
  if (threadIdx.x < 2) found[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t states = states_of(of_line) | states_of(of_element);
  if ((states & state_without_factor) != 0) found[0] = 1;
  if ((states & state_marked) != 0) found[1] = 1;
  __syncthreads();
  const bool is_factored = found[0] == 0;
  write_factors(of_line, is_factored, product.line_factors);
  write_factors(of_element, is_factored, product.element_factors);
  if (is_factored && found[1] == 0) return;

  const std::int64_t lines = of_line.source.rows;
  const std::int64_t length = of_element.source.rows;
  const std::int64_t line_blocks = (lines + finish_rows - 1) / finish_rows;
  for (std::int64_t block = blockIdx.x; block < element_blocks * line_blocks; block += gridDim.x) {
    const std::int64_t begin = (block % element_blocks * settle_threads + threadIdx.x) * 4;
    const std::int64_t first = block / element_blocks * finish_rows;
    const std::int64_t last = min(first + finish_rows, lines);
    RowScale scales[4];
    std::uint32_t marks = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (begin + i < length) {
        scales[i] = of_element.scales[begin + i];
        marks |= scales[i].marks;
      }
    for (std::int64_t line = first; line < last; ++line) {
      const RowScale line_scale = of_line.scales[line];
      // Whole warps go on together.
      if (is_factored && !__any_sync(whole_warp, (marks | line_scale.marks) != 0)) continue;
      float* place = product.data + line * product.leading_dimension + begin;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool is_inside = begin + i < length;
        const double value = is_inside ? static_cast<double>(place[i]) : 0.0;
        const int exponent = line_scale.exponent + scales[i].exponent;
        const bool is_lost = is_inside && must_recompute(line_scale, scales[i], value);
        const double exact =
            recompute(of_line, line_scale, of_element, scales[i], line, begin + i, is_lost);
        if (is_lost)
          place[i] =
              static_cast<float>(is_factored ? exact * power_of_two_double(exponent) : exact);
        else if (is_inside && !is_factored)
          place[i] = static_cast<float>(value * power_of_two_double(-exponent));
      }
    }
  }
}

/// What is known of a row of w from each slice of k. The exponent is that of the largest element or
/// less, which makes must_recompute() careful.
__device__ RowScale combined_scale(const SplitFactor& w, int count, std::int64_t n) {
  RowScale scale = w.scales[n];
  for (int i = 1; i < count; ++i) {
    const RowScale next = w.scales[i * w.source.rows + n];
    scale.exponent = min(scale.exponent, next.exponent);
    scale.marks |= next.marks;
  }
  return scale;
}

/// Each thread takes a column and every so many rows.
__global__ void __launch_bounds__(settle_threads)
    settle_columns(const SplitFactor x, const SplitFactor w, const SplitSums sums,
                   std::int64_t column_blocks) {
  if (is_called_off(sums.unless)) return;
  __shared__ std::uint32_t found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (sums.w_scale_count > 0) {
    SplitFactor all = w;
    all.source.rows *= sums.w_scale_count;
    if (((states_of(x) | states_of(all)) & state_marked) != 0) found = 1;
  }
  __syncthreads();
  const bool is_marked = found != 0;
  if (!is_marked && sums.slices == nullptr) return;

  const std::int64_t row_blocks = (sums.m + finish_rows - 1) / finish_rows;
  for (std::int64_t block = blockIdx.x; block < column_blocks * row_blocks; block += gridDim.x) {
    const std::int64_t n = block % column_blocks * settle_threads + threadIdx.x;
    const std::int64_t begin = block / column_blocks * finish_rows;
    const std::int64_t end = min(begin + finish_rows, sums.m);
    const bool is_inside = n < sums.n;
    RowScale w_scale;
    if (is_marked && is_inside) w_scale = combined_scale(w, sums.w_scale_count, n);
    for (std::int64_t m = begin; m < end; ++m) {
      float* const place = sums.y + m * sums.y_row_stride + n * sums.y_column_stride;
      double value = 0;
      bool is_settled = false;
      if (sums.slices != nullptr && is_inside) {
        const float* slice = sums.slices + m * sums.n + n;
        for (int i = 0; i < sums.slice_count; ++i)
          value += static_cast<double>(slice[i * sums.m * sums.n]);
      }
      // Parts of a sum may overflow where the sum does not, or not to that side.
      const bool is_overflowing =
          sums.slices != nullptr && sums.w_scale_count > 0 && is_inside && !isfinite(value);
      if (is_marked || __any_sync(whole_warp, is_overflowing)) {
        if (!is_marked && is_inside) w_scale = combined_scale(w, sums.w_scale_count, n);
        const RowScale x_scale = x.scales[m];
        // Whole warps go on together.
        if (__any_sync(whole_warp, (x_scale.marks | w_scale.marks) != 0 || is_overflowing)) {
          if (sums.slices == nullptr && is_inside) value = static_cast<double>(*place);
          const double product = value * power_of_two_double(x_scale.exponent + w_scale.exponent);
          const bool is_lost =
              is_overflowing || (is_inside && must_recompute(x_scale, w_scale, product));
          const double exact = recompute(x, x_scale, w, w_scale, m, n, is_lost);
          if (is_lost) *place = static_cast<float>(exact);
          is_settled = is_lost;
        }
      }
      if (sums.slices != nullptr && is_inside && !is_settled) *place = static_cast<float>(value);
    }
  }
}

/// For y whose columns are contiguous: tiles that are turned in shared memory.
__global__ void __launch_bounds__(tile_rows* tile_lines)
    finish_columns_of_y(const SplitFactor x, const SplitFactor w, const SplitResult result,
                        std::int64_t column_tiles) {
  __shared__ float tile[tile_rows][tile_rows + 1];
  const std::int64_t first_column = blockIdx.x % column_tiles * tile_rows;
  const std::int64_t first_row = blockIdx.x / column_tiles * tile_rows;
  const std::int64_t n = first_column + threadIdx.x;
  RowScale w_scale;
  if (n < result.n) w_scale = w.scales[n];
  for (int line = threadIdx.y; line < tile_rows; line += tile_lines) {
    const std::int64_t m = first_row + line;
    const bool is_inside = m < result.m && n < result.n;
    RowScale x_scale;
    if (m < result.m) x_scale = x.scales[m];
    const double product = is_inside ? product_at(result, m, n) : 0.0;
    tile[line][threadIdx.x] = finished(x, x_scale, w, w_scale, m, n, is_inside, product);
  }
  __syncthreads();
  const std::int64_t m = first_row + threadIdx.x;
  for (int line = threadIdx.y; line < tile_rows; line += tile_lines)
    if (m < result.m && first_column + line < result.n)
      result.y[m * result.y_row_stride + (first_column + line) * result.y_column_stride] =
          tile[threadIdx.x][line];
}

__global__ void __launch_bounds__(256)
    copy_kept_rows(const SplitSource source, const RowScale* scales, float* kept) {
  const std::int64_t r = blockIdx.x;
  const std::int32_t place = scales[r].kept;
  if (place < 0) return;
  for (std::int64_t k = threadIdx.x; k < source.k; k += blockDim.x)
    kept[place * source.k + k] = source.data[r * source.row_stride + k * source.column_stride];
}

}  // namespace

bool split_needs_extrema(std::int64_t k, std::int64_t column_stride) {
  return k > 1 && column_stride != 1;
}

void split_matrix(const SplitSource& source, const SplitMatrix& matrix, RowExtrema* extrema,
                  cudaStream_t stream) {
  if (split_needs_extrema(source.k, source.column_stride))
    split_apart(source, matrix, extrema, stream);
  else
    split_contiguous(source, matrix, stream);
  require_success(cudaGetLastError(), "splitting a matrix");
}

void keep_rows(const SplitSource& source, const RowScale* scales, float* kept,
               cudaStream_t stream) {
  copy_kept_rows<<<static_cast<unsigned>(source.rows), 256, 0, stream>>>(source, scales, kept);
  require_success(cudaGetLastError(), "keeping rows of w");
}

void finish_split(const SplitFactor& x, const SplitFactor& w, const SplitResult& result,
                  cudaStream_t stream) {
  if (result.n == 1 || result.y_column_stride == 1) {
    const std::int64_t column_blocks = (result.n + finish_columns - 1) / finish_columns;
    const std::int64_t row_blocks = (result.m + finish_rows - 1) / finish_rows;
    finish_rows_of_y<<<static_cast<unsigned>(column_blocks * row_blocks), finish_threads, 0,
                       stream>>>(x, w, result, column_blocks);
  } else {
    const std::int64_t column_tiles = (result.n + tile_rows - 1) / tile_rows;
    const std::int64_t row_tiles = (result.m + tile_rows - 1) / tile_rows;
    finish_columns_of_y<<<static_cast<unsigned>(column_tiles * row_tiles),
                          dim3(tile_rows, tile_lines), 0, stream>>>(x, w, result, column_tiles);
  }
  require_success(cudaGetLastError(), "finishing a split product");
}

void settle_product(const SplitFactor& of_line, const SplitFactor& of_element,
                    const SplitProduct& product, cudaStream_t stream) {
  constexpr std::int64_t columns = std::int64_t(4) * settle_threads;
  const std::int64_t element_blocks = (of_element.source.rows + columns - 1) / columns;
  const std::int64_t line_blocks = (of_line.source.rows + finish_rows - 1) / finish_rows;
  const std::int64_t most = device_attribute(cudaDevAttrMultiProcessorCount);
  settle_lines<<<static_cast<unsigned>(std::min(most, element_blocks * line_blocks)),
                 settle_threads, 0, stream>>>(of_line, of_element, product, element_blocks);
  require_success(cudaGetLastError(), "settling a split product");
}

void settle_sums(const SplitFactor& x, const SplitFactor& w, const SplitSums& sums,
                 cudaStream_t stream) {
  const std::int64_t column_blocks = (sums.n + settle_threads - 1) / settle_threads;
  const std::int64_t row_blocks = (sums.m + finish_rows - 1) / finish_rows;
  const std::int64_t most =
      device_attribute(cudaDevAttrMultiProcessorCount) * (sums.slices != nullptr ? 8 : 1);
  settle_columns<<<static_cast<unsigned>(std::min(most, column_blocks * row_blocks)),
                   settle_threads, 0, stream>>>(x, w, sums, column_blocks);
  require_success(cudaGetLastError(), "settling a product");
}

}  // namespace detail
}  // namespace postlude
