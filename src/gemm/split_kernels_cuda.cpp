#include "gemm/split_kernels.hpp"

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "gemm/cuda_status.hpp"

namespace postlude {
namespace detail {
namespace {

constexpr int warp_size = 32;
constexpr unsigned whole_warp = 0xffffffffu;
constexpr std::uint32_t magnitude_bits = 0x7fffffffu;
constexpr std::uint32_t infinity_bits = 0x7f800000u;
/// The largest scaled magnitude of a row is in [2^14, 2^15).
constexpr int top_exponent = 14;
/// Half the distance of float16's subnormal numbers, 2^-25, in a low part.
constexpr float part_error = 1.0f / (1ull << 36);
/// From here on the high part is a normal number: 2^-14.
constexpr float narrowest = 1.0f / (1 << 14);
/// Relative error that small elements may add to a result, 2^-20.
constexpr float tolerated_error = 1.0f / (1 << 20);

/// Elements that a thread takes at a time: one 16-byte store of float16.
constexpr int packet = 8;

__device__ float power_of_two(int exponent) { return __int_as_float((exponent + 127) << 23); }

__device__ double power_of_two_double(int exponent) {
  return __hiloint2double((exponent + 1023) << 20, 0);
}

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
  if (threadIdx.x == 0) matrix.scales[r] = {scaling.exponent, marks_of(extrema, scaling), sum, -1};
}

/// One block for each row, which it reads twice.
template <int threads, bool is_aligned>
__global__ void __launch_bounds__(threads)
    split_long_row(const SplitSource source, const SplitMatrix matrix) {
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
  if (threadIdx.x == 0) matrix.scales[r] = {scaling.exponent, marks_of(extrema, scaling), sum, -1};
}

// Rows whose elements are apart, as those of a column-major matrix: neighbouring threads read
// neighbouring rows, and tiles are turned in shared memory before they are written.

constexpr int tile_rows = 32;
constexpr int tile_columns = 64;
constexpr int tile_lines = 8;  ///< threads along k

/// Columns that one block of find_extrema() looks through.
constexpr std::int64_t extrema_columns = 512;

__global__ void __launch_bounds__(tile_rows* tile_lines)
    find_extrema(const SplitSource source, RowExtrema* extrema, std::int64_t row_tiles) {
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
      matrix.scales[r] = {scaling.exponent, marks_of(found, scaling),
                          static_cast<float>(source.k) * (1 << (top_exponent + 1)), -1};
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

void split_contiguous(const SplitSource& source, const SplitMatrix& matrix, cudaStream_t stream) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(source.data) % 16 == 0 &&
                          (source.rows == 1 || source.row_stride % 4 == 0);
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
  find_extrema<<<static_cast<unsigned>(row_tiles * parts), threads, 0, stream>>>(source, extrema,
                                                                                 row_tiles);
  const std::int64_t column_tiles = (matrix.padded_k + tile_columns - 1) / tile_columns;
  split_tile<<<static_cast<unsigned>(row_tiles * column_tiles), threads, 0, stream>>>(
      source, matrix, extrema, row_tiles);
}

/// Elements of a row and their distance.
struct Row {
  const float* data;
  std::int64_t stride;

  __device__ Row(const SplitFactor& factor, std::int64_t r, std::int32_t kept)
      : data(kept < 0 ? factor.source.data + r * factor.source.row_stride
                      : factor.kept + kept * factor.source.k),
        stride(kept < 0 ? factor.source.column_stride : 1) {}
};

/// One element of x w^T by a whole warp, in float64: NaN and infinities come out as they do in
/// float32, and what overflows float32 does so when it is rounded.
__device__ double product_of_rows(const Row& x, const Row& w, std::int64_t k_end) {
  double sum = 0;
  for (std::int64_t k = threadIdx.x % warp_size; k < k_end; k += warp_size)
    sum += static_cast<double>(x.data[k * x.stride]) * static_cast<double>(w.data[k * w.stride]);
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(whole_warp, sum, distance);
  return sum;
}

/// Whether an element may have lost too much to the parts: it depends on an infinity or NaN, or on
/// small elements while it is small itself.
__device__ bool must_recompute(const RowScale& x, const RowScale& w, double product) {
  const std::uint32_t marks = x.marks | w.marks;
  if (marks == 0) return false;
  if ((marks & row_is_not_finite) != 0) return true;
  const float error = part_error * (((x.marks & row_is_wide) != 0 ? w.sum : 0.0f) +
                                    ((w.marks & row_is_wide) != 0 ? x.sum : 0.0f));
  return fabs(product) * static_cast<double>(tolerated_error) < static_cast<double>(error);
}

/// y at (m, n) for every lane; all lanes of a warp take part, `is_inside` or not.
__device__ float finished(const SplitFactor& x, const RowScale& x_scale, const SplitFactor& w,
                          const RowScale& w_scale, std::int64_t m, std::int64_t n, bool is_inside,
                          double product) {
  double y = product * power_of_two_double(-(x_scale.exponent + w_scale.exponent));
  unsigned left = __ballot_sync(whole_warp, is_inside && must_recompute(x_scale, w_scale, product));
  while (left != 0) {
    const int lane = __ffs(static_cast<int>(left)) - 1;
    left &= left - 1;
    const Row x_row(x, __shfl_sync(whole_warp, m, lane),
                    __shfl_sync(whole_warp, x_scale.kept, lane));
    const Row w_row(w, __shfl_sync(whole_warp, n, lane),
                    __shfl_sync(whole_warp, w_scale.kept, lane));
    const double exact = product_of_rows(x_row, w_row, x.source.k);
    if (static_cast<int>(threadIdx.x % warp_size) == lane) y = exact;
  }
  return static_cast<float>(y);
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

}  // namespace detail
}  // namespace postlude
