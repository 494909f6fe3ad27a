#include "gemm/hopper_kernels.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "compat/cuda_driver.hpp"
#include "evaluator/quotient_up.hpp"
#include "gemm/cuda_status.hpp"
#include "gemm/dependent_launch.hpp"
#include "gemm/hopper_stage_epilogue.cuh"
#include "gemm/hopper_streamed.cuh"
#include "gemm/hopper_tiles.cuh"

namespace postlude {
namespace detail {
namespace {

/// hopper_streamed.cuh has a kernel of its own for these, which is faster.
template <HopperFormat format, int columns>
constexpr bool is_streamed_in_narrow_tiles = (format == HopperFormat::streamed) && (columns < 128);

template <HopperFormat format, int columns>
__global__ void __launch_bounds__(Layout<format, columns, 0>::threads, 1)
    hopper_tiles(const __grid_constant__ HopperParameters p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if constexpr (is_streamed_in_narrow_tiles<format, columns>)
    streamed::block<columns>(p);
  else
    hopper_block<format, columns>(p, StoreSums());
#else
  (void)p;
#endif
}

using EncodeTiled = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                 const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                 const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/// Throws Error(backend_failure).
EncodeTiled encode_tiled() {
  static const auto function =
      reinterpret_cast<EncodeTiled>(compat::cuda_driver_function("cuTensorMapEncodeTiled"));
  if (function == nullptr)
    throw Error(Status::backend_failure, "the CUDA driver has no cuTensorMapEncodeTiled");
  return function;
}

/// A map of boxes of one line (128 bytes of k) by `box_rows` rows of one part.
TensorMap tensor_map(const HopperMatrix& matrix, CUtensorMapDataType type, int element_bytes,
                     std::int64_t rows, std::int64_t k, int parts, int box_rows) {
  const cuuint64_t extents[3] = {static_cast<cuuint64_t>(k), static_cast<cuuint64_t>(rows),
                                 static_cast<cuuint64_t>(parts)};
  // A distance that nothing is at still has to be a good one.
  const auto row_bytes = static_cast<cuuint64_t>(rows > 1 ? matrix.row_bytes : 16);
  const cuuint64_t strides[2] = {
      row_bytes, parts > 1 ? static_cast<cuuint64_t>(matrix.part_bytes) : row_bytes};
  const cuuint32_t box[3] = {static_cast<cuuint32_t>(line_bytes / element_bytes),
                             static_cast<cuuint32_t>(box_rows), 1};
  const cuuint32_t steps[3] = {1, 1, 1};
  static_assert(
      sizeof(TensorMap) == sizeof(CUtensorMap) && alignof(TensorMap) % alignof(CUtensorMap) == 0,
      "kernels know a CUtensorMap by its size alone");
  TensorMap map;
  const CUresult result = encode_tiled()(
      reinterpret_cast<CUtensorMap*>(&map), type, 3, const_cast<void*>(matrix.data), extents,
      strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw Error(Status::backend_failure,
                "cuTensorMapEncodeTiled failed with " + std::to_string(static_cast<int>(result)));
  return map;
}

/// What a kernel is launched with, whatever its epilogue.
struct Launch {
  int threads;
  int dynamic_bytes;
};

template <HopperFormat format, int columns, int epilogue_bytes>
constexpr Launch launch_of() {
  using L = Layout<format, columns, epilogue_bytes>;
  return {L::threads, L::dynamic_bytes};
}

/// The kernel that stores y, and how kernels of this format and width are launched.
struct Variant {
  const void* kernel;
  Launch storing;
  Launch with_stages[most_tile_stages];  ///< one, two, ...
};

template <HopperFormat format, int columns>
Variant variant_of() {
  Variant variant{reinterpret_cast<const void*>(hopper_tiles<format, columns>),
                  launch_of<format, columns, 0>(),
                  {launch_of<format, columns, sizeof(StageMemory<1>)>(),
                   launch_of<format, columns, sizeof(StageMemory<2>)>(),
                   launch_of<format, columns, sizeof(StageMemory<3>)>()}};
  static_assert(most_tile_stages == 3, "a launch for each number of stages");
  if constexpr (is_streamed_in_narrow_tiles<format, columns>)
    variant.storing.dynamic_bytes = streamed::StreamedLayout<columns>::dynamic_bytes;
  return variant;
}

template <HopperFormat format>
Variant variant_of(int columns) {
  constexpr bool is_small = format == HopperFormat::float16 || format == HopperFormat::bfloat16;
  if constexpr (is_small)
    if (columns == 256) return variant_of<format, 256>();
  switch (columns) {
    case 16:
      return variant_of<format, 16>();
    case 32:
      return variant_of<format, 32>();
    case 64:
      return variant_of<format, 64>();
    default:
      return variant_of<format, 128>();
  }
}

Variant variant_of(HopperFormat format, int columns) {
  switch (format) {
    case HopperFormat::float16:
      return variant_of<HopperFormat::float16>(columns);
    case HopperFormat::bfloat16:
      return variant_of<HopperFormat::bfloat16>(columns);
    case HopperFormat::streamed:
      return variant_of<HopperFormat::streamed>(columns);
    case HopperFormat::split:
      break;
  }
  return variant_of<HopperFormat::split>(columns);
}

void allow_shared_memory(const void* kernel, const Launch& launch) {
  require_success(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       launch.dynamic_bytes),
                  "cudaFuncSetAttribute");
}

HopperParameters parameters_of(const HopperProduct& product, const HopperTiling& tiling) {
  const bool is_split = product.format == HopperFormat::split;
  const bool is_streamed = product.format == HopperFormat::streamed;
  const int parts = is_split || is_streamed ? 2 : 1;
  const CUtensorMapDataType type = product.format == HopperFormat::bfloat16
                                       ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                       : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  HopperParameters p;
  p.x_map = tensor_map(product.x, type, 2, product.m, product.k, parts, tiling.columns);
  if (is_streamed)
    p.w_map = tensor_map(product.w, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, product.n, product.k, 1,
                         hopper_rows);
  else
    p.w_map = tensor_map(product.w, type, 2, product.n, product.k, parts, hopper_rows);
  p.m = static_cast<int>(product.m);
  p.n = static_cast<int>(product.n);
  p.steps = static_cast<int>(quotient_up(product.k, hopper_step));
  p.steps_of_slice = static_cast<int>(quotient_up(p.steps, tiling.slices));
  p.slices = tiling.slices;
  p.x_tiles = static_cast<int>(quotient_up(product.m, tiling.columns));
  p.w_tiles = static_cast<int>(quotient_up(product.n, hopper_rows));
  p.x_group = std::min(p.x_tiles, std::max(1, 1024 / tiling.columns));
  p.x_scales = product.x_scales;
  p.w_scales = product.w_scales;
  p.w_states = product.w_states;
  p.y = product.y;
  p.y_row_stride = product.y_row_stride;
  p.y_column_stride = product.y_column_stride;
  p.slice_stride = product.slice_stride;
  p.unless = product.unless;
  return p;
}

/// One block for each multiprocessor, or for each tile where there are fewer.
void enqueue(const void* kernel, const Launch& launch, const HopperParameters& p, int processors,
             void** arguments, cudaStream_t stream) {
  const int blocks = std::min(p.x_tiles * p.w_tiles * p.slices, processors);
  require_success(
      launch_dependent(kernel, blocks, launch.threads, launch.dynamic_bytes, arguments, stream),
      "launching the hopper GEMM");
}

}  // namespace

void load_hopper_kernel(HopperFormat format, const HopperTiling& tiling) {
  const Variant variant = variant_of(format, tiling.columns);
  allow_shared_memory(variant.kernel, variant.storing);
}

void load_hopper_stage_kernel(const void* kernel, HopperFormat format, int columns, int stages) {
  allow_shared_memory(kernel, variant_of(format, columns).with_stages[stages - 1]);
}

void hopper_multiply(const HopperProduct& product, const HopperTiling& tiling,
                     cudaStream_t stream) {
  const Variant variant = variant_of(product.format, tiling.columns);
  HopperParameters p = parameters_of(product, tiling);
  void* arguments[] = {&p};
  enqueue(variant.kernel, variant.storing, p, product.processors, arguments, stream);
}

void hopper_multiply_with(const void* kernel, const HopperProduct& product,
                          const HopperTiling& tiling, const HopperEpilogue& epilogue,
                          const Stage* const* stages, int count, cudaStream_t stream) {
  HopperParameters p = parameters_of(product, tiling);
  void* arguments[2 + most_tile_stages] = {&p, const_cast<HopperEpilogue*>(&epilogue)};
  for (int i = 0; i < count; ++i) arguments[2 + i] = const_cast<Stage*>(stages[i]);
  enqueue(kernel, variant_of(product.format, tiling.columns).with_stages[count - 1], p,
          product.processors, arguments, stream);
}

}  // namespace detail
}  // namespace postlude
