#include "gemm/hopper_kernels.hpp"

#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "gemm/cuda_status.hpp"
#include "gemm/hopper_primitives.cuh"
#include "gemm/hopper_wgmma.cuh"

namespace postlude {
namespace detail {
namespace {

constexpr int warp_size = 32;
constexpr unsigned whole_warp = 0xffffffffu;
constexpr int warpgroup_size = 128;
/// Two warpgroups multiply; of a third one a warp copies, or two where x and w have rings of their
/// own.
constexpr int multiplying_warps = 8;

/// A line of a tile: 64 elements of two bytes, or 32 of float32.
constexpr int line_bytes = 128;
constexpr int w_part_bytes = hopper_rows * line_bytes;
constexpr int most_stages = 8;
constexpr int shared_bytes_of_block = 227 * 1024;

constexpr std::uint32_t infinity_bits = 0x7f800000u;
/// As in split_kernels: the largest scaled magnitude is in [2^14, 2^15).
constexpr int top_exponent = 14;
/// Steps after which a sum of high products is promoted.
constexpr int promotion_steps = 1;

struct Parameters {
  CUtensorMap x_map;
  CUtensorMap w_map;
  int m;
  int n;
  int steps;            ///< of 64 in k
  int steps_of_slice;
  int slices;
  int x_tiles;          ///< in units of the cluster
  int w_tiles;
  int x_group;          ///< tiles of x that are visited for each tile of w before the next
  int cluster;
  int x_cluster;
  const RowScale* x_scales;
  RowScale* w_scales;
  std::uint8_t* w_states;
  float* y;
  std::int64_t y_row_stride;
  std::int64_t y_column_stride;
  std::int64_t slice_stride;
  const int* unless;
};

template <HopperFormat format, int columns>
struct Layout {
  static constexpr bool is_split = format == HopperFormat::split || format == HopperFormat::streamed;
  static constexpr bool is_streamed = format == HopperFormat::streamed;
  static constexpr int parts = is_split ? 2 : 1;
  /// First the warpgroups that multiply, then that of the warps that copy, since registers are given
  /// up by warpgroups.
  static constexpr int multiplying_threads = 2 * warpgroup_size;
  static constexpr int threads = multiplying_threads + warpgroup_size;
  static constexpr int x_part_bytes = columns * line_bytes;
  static constexpr int w_bytes = parts * w_part_bytes;
  static constexpr int stage_bytes = w_bytes + parts * x_part_bytes;
  static constexpr int other_bytes = 1024;
  static constexpr int fitting_stages = (shared_bytes_of_block - 1024 - other_bytes) / stage_bytes;
  static constexpr int stages = fitting_stages < most_stages ? fitting_stages : most_stages;
  static constexpr int dynamic_bytes = 1024 + stages * stage_bytes;
};

/// A unit of work: one tile, over one slice of k.
struct Unit {
  int w_tile;
  int x_tile;
  int slice;
  int begin;
  int end;

  __device__ Unit(const Parameters& p, int index, std::uint32_t rank) {
    const int of_group = p.w_tiles * p.slices * p.x_group;
    const int group = index / of_group;
    const int in_group = index - group * of_group;
    const int width = min(p.x_group, p.x_tiles - group * p.x_group);
    const int rest = in_group / width;
    x_tile = (group * p.x_group + in_group - rest * width) * p.x_cluster +
             static_cast<int>(rank) / p.cluster;
    const int w_index = rest / p.slices;
    slice = rest - w_index * p.slices;
    w_tile = w_index * p.cluster + static_cast<int>(rank) % p.cluster;
    begin = slice * p.steps_of_slice;
    end = min(begin + p.steps_of_slice, p.steps);
  }
};

__device__ int unit_count(const Parameters& p) { return p.x_tiles * p.w_tiles * p.slices; }

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

__device__ float power_of_two(int exponent) { return __int_as_float((exponent + 127) << 23); }

__device__ double power_of_two_double(int exponent) {
  return __hiloint2double((exponent + 1023) << 20, 0);
}

/// value 2^-exponent, rounded once.
__device__ float unscaled(float value, int exponent) {
  if (exponent >= -126 && exponent <= 126) return value * power_of_two(-exponent);
  return static_cast<float>(static_cast<double>(value) * power_of_two_double(-exponent));
}

/// The exponent of the power of two by which a row, or a part of it, is scaled.
__device__ int scale_exponent(std::uint32_t largest) {
  if (largest == 0) return 0;
  const int magnitude = largest >> 23 != 0 ? static_cast<int>(largest >> 23) - 127
                                           : -118 - __clz(static_cast<int>(largest));
  return top_exponent - magnitude;
}

template <HopperFormat format, int columns>
struct Shared {
  using L = Layout<format, columns>;
  std::uint32_t tiles;  ///< address of the stages
  std::uint32_t full;
  std::uint32_t empty;

  __device__ std::uint32_t w(int stage) const { return tiles + stage * L::stage_bytes; }
  __device__ std::uint32_t x(int stage) const { return w(stage) + L::w_bytes; }
};

/// One thread: keeps copies under way.
template <HopperFormat format, int columns>
__device__ void copy_tiles(const Parameters& p, const Shared<format, columns>& shared) {
  using L = Layout<format, columns>;
  const std::uint32_t rank = rank_in_cluster();
  const int blocks = p.cluster * p.x_cluster;
  const int w_rank = static_cast<int>(rank) % p.cluster;
  const int x_rank = static_cast<int>(rank) / p.cluster;
  const int x_slice = columns / p.cluster;
  const int w_slice = hopper_rows / p.x_cluster;
  // Blocks that share the tile of x, and of w.
  const auto x_blocks = static_cast<std::uint16_t>(((1u << p.cluster) - 1) << (x_rank * p.cluster));
  std::uint32_t column_of_blocks = 0;
  for (int i = 0; i < p.x_cluster; ++i) column_of_blocks |= 1u << (i * p.cluster + w_rank);
  const auto w_blocks = static_cast<std::uint16_t>(column_of_blocks);
  const std::uint64_t keep = keep_policy();
  const std::uint64_t w_policy = p.x_tiles * p.x_cluster == 1 ? stream_policy() : keep;

  Ring<L::stages> ring;
  const int units = unit_count(p);
  for (int index = blockIdx.x / blocks; index < units; index += gridDim.x / blocks) {
    const Unit unit(p, index, rank);
    for (int step = unit.begin; step < unit.end; ++step) {
      const std::uint32_t full = shared.full + 8 * ring.stage;
      barrier_wait(shared.empty + 8 * ring.stage, ring.parity ^ 1);
      barrier_expect(full, L::stage_bytes);
      const int k = step * hopper_step;
      const int x_row = unit.x_tile * columns + w_rank * x_slice;
      const int w_row = unit.w_tile * hopper_rows + x_rank * w_slice;
#pragma unroll
      for (int part = 0; part < L::parts; ++part) {
        const std::uint32_t to =
            shared.w(ring.stage) + part * w_part_bytes + x_rank * w_slice * line_bytes;
        if (p.x_cluster == 1)
          copy_box(to, p.w_map, k, w_row, part, full, w_policy);
        else
          copy_box_to(w_blocks, to, p.w_map, k, w_row, part, full, w_policy);
      }
#pragma unroll
      for (int part = 0; part < L::parts; ++part) {
        const std::uint32_t to =
            shared.x(ring.stage) + part * L::x_part_bytes + w_rank * x_slice * line_bytes;
        if (p.cluster == 1)
          copy_box(to, p.x_map, k, x_row, part, full, keep);
        else
          copy_box_to(x_blocks, to, p.x_map, k, x_row, part, full, keep);
      }
      ring.advance();
    }
  }
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

/// Stores the elements of y that a thread has: of the rows tile_row and tile_row + 8 of the tile.
template <HopperFormat format, int columns>
__device__ __forceinline__ void store_tile(const Parameters& p, const Unit& unit, int tile_row,
                                           const int (&row_exponents)[2],
                                           const float (&total)[columns / 2]) {
  using L = Layout<format, columns>;
  const int first_n = unit.w_tile * hopper_rows + tile_row;
  const int first_m = unit.x_tile * columns + 2 * (static_cast<int>(threadIdx.x) % 4);
  float* const y = p.y + unit.slice * p.slice_stride;
#pragma unroll
  for (int j = 0; j < columns / 8; ++j)
#pragma unroll
    for (int column = 0; column < 2; ++column) {
      const int m = first_m + 8 * j + column;
      if (m >= p.m) continue;
      const int exponent = L::is_split ? p.x_scales[m].exponent : 0;
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        const int n = first_n + 8 * row;
        const float value = total[4 * j + 2 * row + column];
        if (n < p.n)
          y[m * p.y_row_stride + n * p.y_column_stride] =
              L::is_split ? unscaled(value, exponent + row_exponents[row]) : value;
      }
    }
}

/// A warpgroup: 64 rows of w by all columns of the tile.
template <HopperFormat format, int columns>
__device__ void multiply_tiles(const Parameters& p, const Shared<format, columns>& shared) {
  using L = Layout<format, columns>;
  constexpr int registers = columns / 2;
  const int lane = threadIdx.x % warp_size;
  const int warpgroup = threadIdx.x / warpgroup_size;
  const int tile_row = warpgroup * 64 + threadIdx.x % warpgroup_size / warp_size * 16 + lane / 4;
  const std::uint32_t rank = rank_in_cluster();
  const int blocks = p.cluster * p.x_cluster;
  // The blocks that copy to this one: those that share its tile of x, then those of its tile of w.
  const int peers = p.cluster + p.x_cluster - 1;
  const int w_rank = static_cast<int>(rank) % p.cluster;
  const int x_rank = static_cast<int>(rank) / p.cluster;
  int peer = x_rank * p.cluster + lane;
  if (lane >= p.cluster) {
    const int other = lane - p.cluster;
    peer = (other < x_rank ? other : other + 1) * p.cluster + w_rank;
  }
  const auto release = [&](int stage) {
    const std::uint32_t empty = shared.empty + 8 * stage;
    if (blocks == 1) {
      if (lane == 0) barrier_arrive(empty);
    } else if (lane < peers) {
      barrier_arrive_at(empty, static_cast<std::uint32_t>(peer));
    }
  };
  const std::uint32_t w_offset = warpgroup * 64 * line_bytes;
  // Of prepared parts the low one is first, of those split here the high one.
  constexpr int high_offset = format == HopperFormat::split ? w_part_bytes : 0;
  constexpr int low_offset = w_part_bytes - high_offset;

  Ring<L::stages> ring;
  const int units = unit_count(p);
  for (int index = blockIdx.x / blocks; index < units; index += gridDim.x / blocks) {
    const Unit unit(p, index, rank);
    float total[registers];
    int row_exponents[2] = {0, 0};
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
        if (n < p.n) row_exponents[i] = p.w_scales[n].exponent;
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

    store_tile<format, columns>(p, unit, tile_row, row_exponents, total);
  }
}

#include "gemm/hopper_streamed.cuh"

template <HopperFormat format, int columns>
__global__ void __launch_bounds__(Layout<format, columns>::threads, 1)
    hopper_tiles(const __grid_constant__ Parameters p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  // Every block of a cluster leaves, before any of them waits for another.
  if (p.unless != nullptr && *p.unless != 0) return;
  using L = Layout<format, columns>;
  extern __shared__ unsigned char dynamic_memory[];
  const std::uint32_t tiles = (shared_address(dynamic_memory) + 1023) / 1024 * 1024;
  const int warp = threadIdx.x / warp_size - multiplying_warps;
  const bool copies = threadIdx.x % warp_size == 0;
  if constexpr (format == HopperFormat::streamed) {
    __shared__ alignas(8) std::uint64_t barriers[2][2][most_stages];
    // Seldom looked at: registers are too few.
    __shared__ StreamedRow rows[multiplying_warps * warp_size][2];
    const StreamedShared<columns> shared(tiles, barriers);
    if (threadIdx.x == 0) {
      prefetch_map(p.x_map);
      prefetch_map(p.w_map);
      shared.create_barriers();
      barrier_publish();
    }
    __syncthreads();
    if (warp < 0) {
      take_registers<240>();
      multiply_streamed(p, shared, rows[threadIdx.x]);
    } else {
      give_registers<24>();
      if (copies && warp == 0) copy_streamed_w(p, shared);
      if (copies && warp == 1) copy_streamed_x(p, shared);
    }
  } else {
    __shared__ alignas(8) std::uint64_t barriers[2][L::stages];
    Shared<format, columns> shared;
    shared.tiles = tiles;
    shared.full = shared_address(barriers[0]);
    shared.empty = shared_address(barriers[1]);
    if (threadIdx.x == 0) {
      prefetch_map(p.x_map);
      prefetch_map(p.w_map);
      for (int i = 0; i < L::stages; ++i) {
        barrier_create(shared.full + 8 * i, 1);
        barrier_create(shared.empty + 8 * i, multiplying_warps * (p.cluster + p.x_cluster - 1));
      }
      barrier_publish();
    }
    __syncthreads();
    cluster_wait_for_all();
    if (warp < 0) {
      take_registers<232>();
      multiply_tiles(p, shared);
    } else {
      give_registers<40>();
      if (copies && warp == 0) copy_tiles(p, shared);
    }
    __syncwarp();
    // Others may still copy to this block's memory and arrive at its barriers.
    cluster_wait_for_all();
  }
#else
  (void)p;
#endif
}

using EncodeTiled = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                 const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                 const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/// From the driver that the runtime has loaded, so that nothing is linked against it.
EncodeTiled encode_tiled() {
  static const EncodeTiled function = [] {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    require_success(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000,
                                                     cudaEnableDefault, &found),
                    "cudaGetDriverEntryPointByVersion");
#else
    require_success(
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &address, cudaEnableDefault, &found),
        "cudaGetDriverEntryPoint");
#endif
    if (found != cudaDriverEntryPointSuccess || address == nullptr)
      throw Error(Status::backend_failure, "the CUDA driver has no cuTensorMapEncodeTiled");
    return reinterpret_cast<EncodeTiled>(address);
  }();
  return function;
}

/// A map of boxes of one line (128 bytes of k) by `box_rows` rows of one part.
CUtensorMap tensor_map(const HopperMatrix& matrix, CUtensorMapDataType type, int element_bytes,
                       std::int64_t rows, std::int64_t k, int parts, int box_rows) {
  const cuuint64_t extents[3] = {static_cast<cuuint64_t>(k), static_cast<cuuint64_t>(rows),
                                 static_cast<cuuint64_t>(parts)};
  // A distance that nothing is at still has to be a good one.
  const auto row_bytes = static_cast<cuuint64_t>(rows > 1 ? matrix.row_bytes : 16);
  const cuuint64_t strides[2] = {row_bytes,
                                 parts > 1 ? static_cast<cuuint64_t>(matrix.part_bytes) : row_bytes};
  const cuuint32_t box[3] = {static_cast<cuuint32_t>(line_bytes / element_bytes),
                             static_cast<cuuint32_t>(box_rows), 1};
  const cuuint32_t steps[3] = {1, 1, 1};
  CUtensorMap map;
  const CUresult result = encode_tiled()(
      &map, type, 3, const_cast<void*>(matrix.data), extents, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw Error(Status::backend_failure,
                "cuTensorMapEncodeTiled failed with " + std::to_string(static_cast<int>(result)));
  return map;
}

int ceiling(std::int64_t dividend, std::int64_t divisor) {
  return static_cast<int>((dividend + divisor - 1) / divisor);
}

template <HopperFormat format, int columns>
constexpr int dynamic_bytes() {
  if constexpr (format == HopperFormat::streamed)
    return StreamedLayout<columns>::dynamic_bytes;
  else
    return Layout<format, columns>::dynamic_bytes;
}

template <HopperFormat format, int columns>
void load_kernel() {
  require_success(
      cudaFuncSetAttribute(hopper_tiles<format, columns>,
                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                           dynamic_bytes<format, columns>()),
      "cudaFuncSetAttribute");
}

/// Of no product only the kernel is loaded.
template <HopperFormat format, int columns>
void launch(const HopperProduct* of_product, const HopperTiling& tiling, cudaStream_t stream) {
  load_kernel<format, columns>();
  if (of_product == nullptr) return;
  const HopperProduct& product = *of_product;
  using L = Layout<format, columns>;
  const CUtensorMapDataType type = format == HopperFormat::bfloat16
                                       ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                       : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  Parameters p;
  p.x_map = tensor_map(product.x, type, 2, product.m, product.k, L::parts,
                       columns / tiling.cluster);
  if (format == HopperFormat::streamed)
    p.w_map = tensor_map(product.w, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, product.n, product.k, 1,
                         hopper_rows / tiling.x_cluster);
  else
    p.w_map = tensor_map(product.w, type, 2, product.n, product.k, L::parts,
                         hopper_rows / tiling.x_cluster);
  p.m = static_cast<int>(product.m);
  p.n = static_cast<int>(product.n);
  p.steps = ceiling(product.k, hopper_step);
  p.steps_of_slice = ceiling(p.steps, tiling.slices);
  p.slices = tiling.slices;
  p.x_tiles = ceiling(product.m, columns * tiling.x_cluster);
  p.w_tiles = ceiling(product.n, hopper_rows * tiling.cluster);
  p.x_group = std::min(p.x_tiles, std::max(1, 1024 / (columns * tiling.x_cluster)));
  p.cluster = tiling.cluster;
  p.x_cluster = tiling.x_cluster;
  p.x_scales = product.x_scales;
  p.w_scales = product.w_scales;
  p.w_states = product.w_states;
  p.y = product.y;
  p.y_row_stride = product.y_row_stride;
  p.y_column_stride = product.y_column_stride;
  p.slice_stride = product.slice_stride;
  p.unless = product.unless;

  const auto kernel = hopper_tiles<format, columns>;
  int device = 0;
  int processors = 0;
  require_success(cudaGetDevice(&device), "cudaGetDevice");
  require_success(
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
      "cudaDeviceGetAttribute");
  const int blocks = tiling.cluster * tiling.x_cluster;
  if (format == HopperFormat::streamed && blocks > 1)
    throw Error(Status::internal_error, "a streamed product has no clusters");
  cudaLaunchConfig_t configuration = {};
  cudaLaunchAttribute attribute;
  configuration.blockDim = dim3(L::threads);
  configuration.dynamicSmemBytes = dynamic_bytes<format, columns>();
  configuration.stream = stream;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(blocks);
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  int clusters = processors / blocks;
  if (blocks > 1) {
    configuration.gridDim = dim3(static_cast<unsigned>(clusters * blocks));
    require_success(cudaOccupancyMaxActiveClusters(&clusters, kernel, &configuration),
                    "cudaOccupancyMaxActiveClusters");
  }
  const int units = p.x_tiles * p.w_tiles * p.slices;
  configuration.gridDim = dim3(static_cast<unsigned>(std::min(units, clusters) * blocks));
  require_success(cudaLaunchKernelEx(&configuration, kernel, p), "launching the hopper GEMM");
}

template <HopperFormat format>
void launch_columns(const HopperProduct* product, const HopperTiling& tiling,
                    cudaStream_t stream) {
  constexpr bool is_small = format == HopperFormat::float16 || format == HopperFormat::bfloat16;
  if constexpr (is_small)
    if (tiling.columns == 256) return launch<format, 256>(product, tiling, stream);
  switch (tiling.columns) {
    case 16:
      return launch<format, 16>(product, tiling, stream);
    case 32:
      return launch<format, 32>(product, tiling, stream);
    case 64:
      return launch<format, 64>(product, tiling, stream);
    default:
      return launch<format, 128>(product, tiling, stream);
  }
}

void launch_format(HopperFormat format, const HopperProduct* product, const HopperTiling& tiling,
                   cudaStream_t stream) {
  switch (format) {
    case HopperFormat::float16:
      return launch_columns<HopperFormat::float16>(product, tiling, stream);
    case HopperFormat::bfloat16:
      return launch_columns<HopperFormat::bfloat16>(product, tiling, stream);
    case HopperFormat::split:
      return launch_columns<HopperFormat::split>(product, tiling, stream);
    case HopperFormat::streamed:
      return launch_columns<HopperFormat::streamed>(product, tiling, stream);
  }
}

}  // namespace

void load_hopper_kernel(HopperFormat format, const HopperTiling& tiling) {
  launch_format(format, nullptr, tiling, nullptr);
}

void hopper_multiply(const HopperProduct& product, const HopperTiling& tiling,
                     cudaStream_t stream) {
  launch_format(product.format, &product, tiling, stream);
}

}  // namespace detail
}  // namespace postlude
