#include "execute/pass_kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "gemm/cuda_status.hpp"

namespace postlude {
namespace detail {
namespace {

constexpr int warp_size = 32;
constexpr unsigned whole_warp = 0xffffffffu;
constexpr int warps = pass_threads / warp_size;

/// Bit patterns of magnitudes, which order as the magnitudes do, NaN above infinity.
__device__ unsigned long long magnitude_bits(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value)) & 0x7fffffffffffffffull;
}
__device__ unsigned magnitude_bits(float value) { return __float_as_uint(value) & 0x7fffffffu; }
__device__ double magnitude_of(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}
__device__ double magnitude_of(unsigned bits) { return static_cast<double>(__uint_as_float(bits)); }

__device__ double arithmetic(double value) { return value; }
__device__ float arithmetic(float value) { return value; }
__device__ float arithmetic(__half value) { return __half2float(value); }
__device__ float arithmetic(__nv_bfloat16 value) { return __bfloat162float(value); }

template <class T>
struct alignas(pass_quad * sizeof(T) > 16 ? 16 : pass_quad * sizeof(T)) Quad {
  T values[pass_quad];
};

/// Where a line's elements are.
template <class T>
struct Line {
  const T* data;
  std::int64_t stride;
  bool is_vector;  ///< quads can be loaded at once

  /// Elements begin to begin + 3, zeros from `end` on.
  __device__ Quad<T> quad(std::int64_t begin, std::int64_t end) const {
    if (is_vector && begin + pass_quad <= end)
      return *reinterpret_cast<const Quad<T>*>(data + begin);
    Quad<T> quad;
#pragma unroll
    for (int i = 0; i < pass_quad; ++i)
      quad.values[i] = begin + i < end ? data[(begin + i) * stride] : T(0.0f);
    return quad;
  }
};

template <class T>
__device__ bool has_vectors(const PassMatrix& matrix) {
  const auto fits = [](std::int64_t distance) { return distance % pass_quad == 0; };
  return matrix.stride_inner == 1 && fits(matrix.stride_outer) && fits(matrix.stride_batch) &&
         reinterpret_cast<std::uintptr_t>(matrix.data) % alignof(Quad<T>) == 0;
}

/// Leaves the largest of a block's bit patterns. All threads take part.
template <class Bits>
__device__ void store_magnitude(Bits largest, double* to) {
  __shared__ Bits of_warp[warps];
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    largest = ::max(largest, __shfl_xor_sync(whole_warp, largest, distance));
  if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = largest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < warps; ++warp) largest = ::max(largest, of_warp[warp]);
  *to = magnitude_of(largest);
}

__device__ double weight_at(const double* weights, std::int64_t i, std::int64_t end) {
  return weights == nullptr ? 1.0 : (i < end ? weights[i] : 0.0);
}

/// A block takes `lines` lines at a time, over one chunk of them.
template <class T, int lines, bool has_sums>
__global__ void __launch_bounds__(pass_threads, 2) pass_along_inner(const MatrixPass pass) {
  using Arithmetic = decltype(arithmetic(T()));
  using Bits = decltype(magnitude_bits(Arithmetic()));
  __shared__ double of_warp[has_sums ? warps : 1][lines];
  const PassMatrix& matrix = pass.matrix;
  const bool is_vector = has_vectors<T>(matrix);
  Bits largest = 0;
  for (std::int64_t unit = blockIdx.x; unit < pass.cut.units; unit += gridDim.x) {
    const std::int64_t chunk = unit % pass.cut.chunks;
    const std::int64_t group = unit / pass.cut.chunks;
    const std::int64_t batch = group / pass.cut.groups;
    const std::int64_t first = (group - batch * pass.cut.groups) * lines;
    const std::int64_t begin = chunk * pass.cut.length;
    const std::int64_t end = ::min(begin + pass.cut.length, matrix.inner);
    const T* data = static_cast<const T*>(matrix.data) + batch * matrix.stride_batch +
                    first * matrix.stride_outer;
    const double* weights =
        pass.weights == nullptr ? nullptr : pass.weights + batch * pass.weights_stride;
    double sums[lines] = {};
    for (std::int64_t i = begin + threadIdx.x * pass_quad; i < end; i += pass_threads * pass_quad) {
      Quad<T> quads[lines];
#pragma unroll
      for (int line = 0; line < lines; ++line)
        quads[line] =
            Line<T>{data + line * matrix.stride_outer, matrix.stride_inner, is_vector}.quad(
                i, first + line < matrix.outer ? end : 0);
      double weight[pass_quad];
      if constexpr (has_sums)
#pragma unroll
        for (int j = 0; j < pass_quad; ++j) weight[j] = weight_at(weights, i + j, end);
#pragma unroll
      for (int line = 0; line < lines; ++line)
#pragma unroll
        for (int j = 0; j < pass_quad; ++j) {
          const Arithmetic value = arithmetic(quads[line].values[j]);
          largest = ::max(largest, magnitude_bits(value));
          if constexpr (has_sums) sums[line] += static_cast<double>(value) * weight[j];
        }
    }
    if constexpr (has_sums) {
#pragma unroll
      for (int line = 0; line < lines; ++line) {
        for (int distance = warp_size / 2; distance > 0; distance /= 2)
          sums[line] += __shfl_xor_sync(whole_warp, sums[line], distance);
        if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size][line] = sums[line];
      }
      __syncthreads();
      if (threadIdx.x < lines && first + threadIdx.x < matrix.outer) {
        double sum = 0;
        for (int warp = 0; warp < warps; ++warp) sum += of_warp[warp][threadIdx.x];
        pass.partials[(chunk * matrix.batch + batch) * matrix.outer + first + threadIdx.x] = sum;
      }
      __syncthreads();
    }
  }
  store_magnitude(largest, pass.magnitudes + blockIdx.x);
}

/// A block takes a tile of neighbours, four for each thread, over one chunk of lines.
template <class T>
__global__ void __launch_bounds__(pass_threads, 2) pass_along_outer(const MatrixPass pass) {
  using Arithmetic = decltype(arithmetic(T()));
  using Bits = decltype(magnitude_bits(Arithmetic()));
  const PassMatrix& matrix = pass.matrix;
  const bool is_vector = has_vectors<T>(matrix);
  Bits largest = 0;
  for (std::int64_t unit = blockIdx.x; unit < pass.cut.units; unit += gridDim.x) {
    const std::int64_t tile = unit % pass.cut.groups;
    const std::int64_t rest = unit / pass.cut.groups;
    const std::int64_t batch = rest / pass.cut.chunks;
    const std::int64_t chunk = rest - batch * pass.cut.chunks;
    const std::int64_t begin = chunk * pass.cut.length;
    const std::int64_t end = ::min(begin + pass.cut.length, matrix.outer);
    const std::int64_t i = tile * pass_tile + threadIdx.x * pass_quad;
    const T* data = static_cast<const T*>(matrix.data) + batch * matrix.stride_batch;
    const double* weights =
        pass.weights == nullptr ? nullptr : pass.weights + batch * pass.weights_stride;
    double sums[pass_quad] = {};
    if (i < matrix.inner)
      for (std::int64_t first = begin; first < end; first += pass_lines) {
        Quad<T> quads[pass_lines];
#pragma unroll
        for (int line = 0; line < pass_lines; ++line)
          quads[line] =
              Line<T>{data + (first + line) * matrix.stride_outer, matrix.stride_inner, is_vector}
                  .quad(i, first + line < end ? matrix.inner : 0);
#pragma unroll
        for (int line = 0; line < pass_lines; ++line) {
          const double weight = weight_at(weights, first + line, end);
#pragma unroll
          for (int j = 0; j < pass_quad; ++j) {
            const Arithmetic value = arithmetic(quads[line].values[j]);
            largest = ::max(largest, magnitude_bits(value));
            sums[j] += static_cast<double>(value) * weight;
          }
        }
      }
    double* const to = pass.partials + (chunk * matrix.batch + batch) * matrix.inner + i;
#pragma unroll
    for (int j = 0; j < pass_quad; ++j)
      if (i + j < matrix.inner) to[j] = sums[j];
  }
  store_magnitude(largest, pass.magnitudes + blockIdx.x);
}

__device__ void add_chunks(const ChunkedSums& sums) {
  for (std::int64_t i = blockIdx.x * std::int64_t(pass_threads) + threadIdx.x; i < sums.count;
       i += std::int64_t(gridDim.x) * pass_threads) {
    double sum = 0;
#pragma unroll 8
    for (std::int64_t chunk = 0; chunk < sums.chunks; ++chunk)
      sum += sums.partials[chunk * sums.count + i];
    sums.sums[i] = sum;
  }
}

__global__ void __launch_bounds__(pass_threads) add_all_chunks(const ChunkedSums sums) {
  add_chunks(sums);
}

/// The largest magnitude, NaN if one is, for every thread of the block. All take part.
__device__ double largest_of(const Magnitudes& magnitudes) {
  __shared__ unsigned long long of_warp[warps];
  unsigned long long largest = 0;
  for (std::int64_t i = threadIdx.x; i < magnitudes.count; i += pass_threads)
    largest = ::max(largest, magnitude_bits(magnitudes.values[i]));
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    largest = ::max(largest, __shfl_xor_sync(whole_warp, largest, distance));
  __syncthreads();
  if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = largest;
  __syncthreads();
  for (int warp = 0; warp < warps; ++warp) largest = ::max(largest, of_warp[warp]);
  return magnitude_of(largest);
}

__global__ void __launch_bounds__(pass_threads) decide(const GuardDecision decision) {
  if (blockIdx.x == 0) {
    const double x = largest_of(decision.x);
    const double w = largest_of(decision.w);
    const double operands = largest_of(decision.operands);
    if (threadIdx.x == 0)
      *decision.is_proved =
          decision.condition.holds(x, w) && operands <= decision.condition.limit ? 1 : 0;
  }
  for (const ChunkedSums& sums : decision.sums) add_chunks(sums);
}

unsigned sum_blocks(std::int64_t count) {
  constexpr std::int64_t most = 1024;
  return static_cast<unsigned>(
      std::max<std::int64_t>(1, std::min(most, (count + pass_threads - 1) / pass_threads)));
}

template <class T>
void launch_of(const MatrixPass& pass, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(pass.cut.workers);
  const bool has_sums = pass.sums != PassSums::none;
  if (pass.sums == PassSums::along_outer)
    pass_along_outer<T><<<blocks, pass_threads, 0, stream>>>(pass);
  else if (pass.cut.group_rows == pass_lines && has_sums)
    pass_along_inner<T, pass_lines, true><<<blocks, pass_threads, 0, stream>>>(pass);
  else if (pass.cut.group_rows == pass_lines)
    pass_along_inner<T, pass_lines, false><<<blocks, pass_threads, 0, stream>>>(pass);
  else if (has_sums)
    pass_along_inner<T, 1, true><<<blocks, pass_threads, 0, stream>>>(pass);
  else
    pass_along_inner<T, 1, false><<<blocks, pass_threads, 0, stream>>>(pass);
}

}  // namespace

void launch_pass(const MatrixPass& pass, cudaStream_t stream) {
  switch (pass.matrix.dtype) {
    case DataType::float64:
      launch_of<double>(pass, stream);
      break;
    case DataType::float16:
      launch_of<__half>(pass, stream);
      break;
    case DataType::bfloat16:
      launch_of<__nv_bfloat16>(pass, stream);
      break;
    default:
      launch_of<float>(pass, stream);
      break;
  }
  require_success(cudaGetLastError(), "a pass over a matrix");
}

void launch_sums(const ChunkedSums& sums, cudaStream_t stream) {
  add_all_chunks<<<sum_blocks(sums.count), pass_threads, 0, stream>>>(sums);
  require_success(cudaGetLastError(), "adding sums of chunks");
}

void launch_decision(const GuardDecision& decision, cudaStream_t stream) {
  const std::int64_t count = std::max(decision.sums[0].count, decision.sums[1].count);
  decide<<<sum_blocks(count), pass_threads, 0, stream>>>(decision);
  require_success(cudaGetLastError(), "deciding on a shortcut");
}

}  // namespace detail
}  // namespace postlude
