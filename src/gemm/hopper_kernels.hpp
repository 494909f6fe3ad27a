#ifndef POSTLUDE_GEMM_HOPPER_KERNELS_HPP
#define POSTLUDE_GEMM_HOPPER_KERNELS_HPP

#include <cuda_runtime_api.h>

#include <cstdint>

#include "evaluator/stage.hpp"
#include "gemm/hopper_epilogue.hpp"
#include "gemm/hopper_tiling.hpp"
#include "gemm/split_factor.hpp"

namespace postlude {
namespace detail {

// The GEMM of the hopper engine: plain CUDA for compute capability 9.0, pointers and a stream.
//
// A tile of y is 128 rows of w by a few rows of x. One warp keeps the copy engine busy with the
// tiles' next 64 of k; two warpgroups multiply 64 rows of w each. Where x and w come in two parts
// there are three products: of the high parts, whose sum is added to float32 registers and begun
// anew every 64 of k, since the tensor cores truncate as they add; and the two of a high and a
// low part, 2^-11 smaller, which need not be.

/// A matrix in memory: `rows` rows of k contiguous elements, in one or two parts.
struct HopperMatrix {
  const void* data = nullptr;   ///< aligned to 16 bytes
  std::int64_t row_bytes = 0;   ///< from row to row, a multiple of 16
  std::int64_t part_bytes = 0;  ///< from part to part, a multiple of 16
};

struct HopperProduct {
  HopperFormat format = HopperFormat::split;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  HopperMatrix x;  ///< m rows; of two parts the first is the high one
  HopperMatrix w;  ///< n rows; of two parts the first is the low one
  const RowScale* x_scales = nullptr;
  /// Of rows of w; read where w is in two parts, and written, with the states, where it is
  /// streamed.
  RowScale* w_scales = nullptr;
  std::uint8_t* w_states = nullptr;
  /// y, or its slices one after another; null where nothing but a stage needs it.
  float* y = nullptr;
  std::int64_t y_row_stride = 0;
  std::int64_t y_column_stride = 0;
  std::int64_t slice_stride = 0;
  /// A word in the device's memory: nothing is computed where it is not 0. Null for none.
  const int* unless = nullptr;
  int processors = 0;  ///< of the device: as many blocks share the tiles
};

/// Readies the kernel of a format and tiling on the current device, once for each: executions then
/// do nothing but launch it, and may be captured. Throws Error(backend_failure).
void load_hopper_kernel(HopperFormat format, const HopperTiling& tiling);

/// The same for a kernel of hopper_stage_kernels.hpp with so many stages.
void load_hopper_stage_kernel(const void* kernel, HopperFormat format, int columns, int stages);

/// Enqueues y = x w^T, or its slices. Does nothing about marked rows: settle_sums() does.
/// Throws Error(backend_failure).
void hopper_multiply(const HopperProduct& product, const HopperTiling& tiling, cudaStream_t stream);

/// Enqueues a kernel of hopper_stage_kernels.hpp, which runs its `count` stages on y = x w^T,
/// marked rows settled, and writes y, row-major, where it has a place. k is not cut into slices.
/// Throws Error(backend_failure).
void hopper_multiply_with(const void* kernel, const HopperProduct& product,
                          const HopperTiling& tiling, const HopperEpilogue& epilogue,
                          const Stage* const* stages, int count, cudaStream_t stream);

}  // namespace detail
}  // namespace postlude

#endif
