#include "execute/pass_kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "evaluator/code.hpp"
#include "gemm/cuda_status.hpp"
#include "sweep/device_body.hpp"

// A launch may begin before the previous one has ended, and graphs keep it so.
#if CUDART_VERSION >= 12030
#define POSTLUDE_EARLY_LAUNCH
#endif

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

/// The block that is `worker` takes `lines` lines at a time, over one chunk of them.
template <class T, int lines, bool has_sums>
__device__ void take_along_inner(const MatrixPass& pass, std::int64_t worker) {
  using Arithmetic = decltype(arithmetic(T()));
  using Bits = decltype(magnitude_bits(Arithmetic()));
  __shared__ double of_warp[has_sums ? warps : 1][lines];
  const PassMatrix& matrix = pass.matrix;
  const bool is_vector = has_vectors<T>(matrix);
  Bits largest = 0;
  for (std::int64_t unit = worker; unit < pass.cut.units; unit += pass.cut.workers) {
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
  store_magnitude(largest, pass.magnitudes + worker);
}

/// The block takes a tile of neighbours, four for each thread, over one chunk of lines.
template <class T>
__device__ void take_along_outer(const MatrixPass& pass, std::int64_t worker) {
  using Arithmetic = decltype(arithmetic(T()));
  using Bits = decltype(magnitude_bits(Arithmetic()));
  const PassMatrix& matrix = pass.matrix;
  const bool is_vector = has_vectors<T>(matrix);
  Bits largest = 0;
  for (std::int64_t unit = worker; unit < pass.cut.units; unit += pass.cut.workers) {
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
  store_magnitude(largest, pass.magnitudes + worker);
}

/// Blocks behind those of the first pass take the other ones.
template <class T>
__device__ void take_others(const PassGroup& group) {
  std::int64_t worker = blockIdx.x - group.first.cut.workers;
#pragma unroll
  for (int i = 0; i < static_cast<int>(most_other_passes); ++i) {
    if (i >= group.other_count) return;
    if (worker >= 0 && worker < group.others[i].cut.workers)
      take_along_inner<T, 1, false>(group.others[i], worker);
    worker -= group.others[i].cut.workers;
  }
}

/// Lets the launch that follows begin where it waits for this one's end by itself.
__device__ void let_next_begin() {
#if defined(POSTLUDE_EARLY_LAUNCH) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// In a launch that begins early: until everything before has been written.
__device__ void wait_for_previous() {
#if defined(POSTLUDE_EARLY_LAUNCH) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

template <class T, int lines, bool has_sums>
__global__ void __launch_bounds__(pass_threads, 2)
    pass_along_inner(const __grid_constant__ PassGroup group) {
  let_next_begin();
  if (blockIdx.x < group.first.cut.workers)
    take_along_inner<T, lines, has_sums>(group.first, blockIdx.x);
  else
    take_others<T>(group);
}

template <class T>
__global__ void __launch_bounds__(pass_threads, 2)
    pass_along_outer(const __grid_constant__ PassGroup group) {
  let_next_begin();
  if (blockIdx.x < group.first.cut.workers)
    take_along_outer<T>(group.first, blockIdx.x);
  else
    take_others<T>(group);
}

/// Makes the sums from `first` on that are `step` apart.
__device__ void add_chunks(const ChunkedSums& sums, std::int64_t first, std::int64_t step) {
  for (std::int64_t i = first; i < sums.count; i += step) {
    double sum = 0;
#pragma unroll 8
    for (std::int64_t chunk = 0; chunk < sums.chunks; ++chunk)
      sum += sums.partials[chunk * sums.count + i];
    sums.sums[i] = sum;
  }
}

__device__ std::int64_t thread_of_grid() {
  return blockIdx.x * std::int64_t(pass_threads) + threadIdx.x;
}

__device__ std::int64_t threads_of_grid() { return gridDim.x * std::int64_t(pass_threads); }

__global__ void __launch_bounds__(pass_threads) add_all_chunks(const ChunkedSums sums) {
  add_chunks(sums, thread_of_grid(), threads_of_grid());
}

/// Whether the condition holds, for every thread of the block. All take part.
__device__ bool is_proved(const GuardDecision& decision) {
  constexpr int kinds = 3;
  __shared__ unsigned long long of_warp[warps][kinds];
  const Magnitudes* const all[kinds] = {&decision.x, &decision.w, &decision.operands};
  unsigned long long largest[kinds] = {};
#pragma unroll
  for (int kind = 0; kind < kinds; ++kind)
#pragma unroll 4
    for (std::int64_t i = threadIdx.x; i < all[kind]->count; i += pass_threads)
      largest[kind] = ::max(largest[kind], magnitude_bits(all[kind]->values[i]));
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
#pragma unroll
    for (int kind = 0; kind < kinds; ++kind)
      largest[kind] = ::max(largest[kind], __shfl_xor_sync(whole_warp, largest[kind], distance));
  if (threadIdx.x % warp_size == 0)
#pragma unroll
    for (int kind = 0; kind < kinds; ++kind) of_warp[threadIdx.x / warp_size][kind] = largest[kind];
  __syncthreads();
#pragma unroll
  for (int kind = 0; kind < kinds; ++kind)
    for (int warp = 0; warp < warps; ++warp)
      largest[kind] = ::max(largest[kind], of_warp[warp][kind]);
  return decision.condition.holds(magnitude_of(largest[0]), magnitude_of(largest[1])) &&
         magnitude_of(largest[2]) <= decision.condition.limit;
}

__global__ void __launch_bounds__(pass_threads)
    decide(const __grid_constant__ GuardDecision decision) {
  wait_for_previous();
  if (blockIdx.x == 0) {
    const bool holds = is_proved(decision);
    if (threadIdx.x == 0) *decision.is_proved = holds ? 1 : 0;
  }
  for (const ChunkedSums& sums : decision.sums)
    add_chunks(sums, thread_of_grid(), threads_of_grid());
}

/// Every block decides, and makes all of the sums, the same that the others make, for its part of
/// the stage.
__global__ void __launch_bounds__(pass_threads)
    decide_and_run(const __grid_constant__ GuardDecision decision,
                   const __grid_constant__ Stage stage, std::int64_t segments) {
  wait_for_previous();
  const bool holds = is_proved(decision);
  if (blockIdx.x == 0 && threadIdx.x == 0) *decision.is_proved = holds ? 1 : 0;
  if (!holds) return;
  for (const ChunkedSums& sums : decision.sums) add_chunks(sums, threadIdx.x, pass_threads);
  __syncthreads();
  pointwise_thread<float, 1, InterpretedCode>(stage, segments, thread_of_grid());
}

unsigned sum_blocks(std::int64_t count) {
  constexpr std::int64_t most = 1024;
  return static_cast<unsigned>(
      std::max<std::int64_t>(1, std::min(most, (count + pass_threads - 1) / pass_threads)));
}

template <class T>
void launch_of(const PassGroup& group, cudaStream_t stream) {
  const MatrixPass& pass = group.first;
  std::int64_t workers = pass.cut.workers;
  for (int i = 0; i < group.other_count; ++i) workers += group.others[i].cut.workers;
  const auto blocks = static_cast<unsigned>(workers);
  const bool has_sums = pass.sums != PassSums::none;
  if (pass.sums == PassSums::along_outer)
    pass_along_outer<T><<<blocks, pass_threads, 0, stream>>>(group);
  else if (pass.cut.group_rows == pass_lines && has_sums)
    pass_along_inner<T, pass_lines, true><<<blocks, pass_threads, 0, stream>>>(group);
  else if (pass.cut.group_rows == pass_lines)
    pass_along_inner<T, pass_lines, false><<<blocks, pass_threads, 0, stream>>>(group);
  else if (has_sums)
    pass_along_inner<T, 1, true><<<blocks, pass_threads, 0, stream>>>(group);
  else
    pass_along_inner<T, 1, false><<<blocks, pass_threads, 0, stream>>>(group);
}

/// Launches a kernel that calls wait_for_previous() before anything else: it may be made ready
/// while the previous one still runs.
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), unsigned blocks, cudaStream_t stream,
                  const Arguments&... arguments) {
#if defined(POSTLUDE_EARLY_LAUNCH)
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = dim3(blocks);
  configuration.blockDim = dim3(pass_threads);
  configuration.stream = stream;
  configuration.attrs = &attribute;
  // Devices from compute capability 9.0 on have it; shortcuts exist on them alone.
  configuration.numAttrs = 1;
  require_success(cudaLaunchKernelEx(&configuration, kernel, arguments...),
                  "deciding on a shortcut");
#else
  kernel<<<blocks, pass_threads, 0, stream>>>(arguments...);
  require_success(cudaGetLastError(), "deciding on a shortcut");
#endif
}

}  // namespace

void launch_passes(const PassGroup& group, cudaStream_t stream) {
  switch (group.first.matrix.dtype) {
    case DataType::float64:
      launch_of<double>(group, stream);
      break;
    case DataType::float16:
      launch_of<__half>(group, stream);
      break;
    case DataType::bfloat16:
      launch_of<__nv_bfloat16>(group, stream);
      break;
    default:
      launch_of<float>(group, stream);
      break;
  }
  require_success(cudaGetLastError(), "a pass over a matrix");
}

void launch_sums(const ChunkedSums& sums, cudaStream_t stream) {
  add_all_chunks<<<sum_blocks(sums.count), pass_threads, 0, stream>>>(sums);
  require_success(cudaGetLastError(), "adding sums of chunks");
}

void launch_decision(const GuardDecision& decision, cudaStream_t stream) {
  if (decision.stage == nullptr) {
    const std::int64_t count = std::max(decision.sums[0].count, decision.sums[1].count);
    return launch_early(decide, sum_blocks(count), stream, decision);
  }
  const Stage& stage = *decision.stage;
  constexpr std::int64_t segment = warp_threads * device_width<float>();
  const std::int64_t segments = (stage.inner + segment - 1) / segment;
  const std::int64_t threads = stage.batch * stage.outer * segments * warp_threads;
  const auto blocks = static_cast<unsigned>((threads + pass_threads - 1) / pass_threads);
  launch_early(decide_and_run, std::max(1u, blocks), stream, decision, stage, segments);
}

}  // namespace detail
}  // namespace postlude
