#ifndef POSTLUDE_GEMM_HOPPER_STAGE_KERNELS_HPP
#define POSTLUDE_GEMM_HOPPER_STAGE_KERNELS_HPP

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "evaluator/stage.hpp"
#include "gemm/hopper_epilogue.hpp"
#include "gemm/hopper_tiling.hpp"
#include "plan/planned_stage.hpp"

namespace postlude {
namespace detail {

// Kernels of the hopper engine that run a stage on their sums: compiled at run time, once for each
// distinct stage, format and width of tiles.

/// What a kernel is made for.
struct HopperStageKernel {
  HopperFormat format = HopperFormat::split;
  int columns = 128;
  SweepKind sweep = SweepKind::pointwise;
  int y = 0;  ///< which of the stage's operands is y
};

/// Why there are no such kernels in this build, "" when there are.
std::string hopper_stage_refusal();

/// Compiles the kernels, all at once, for operands of the dtypes that `stage` has, unless that has
/// been done before: a few seconds. Returns why one of them is of no use, "" when all can be run.
/// Threads: safe. Throws Error(backend_failure).
std::string compile_hopper_stage(const std::vector<HopperStageKernel>& kernels, const Stage& stage);

/// What was compiled.
struct HopperStageFunctions {
  const void* kernel = nullptr;  ///< for hopper_multiply_with()
  const void* finish = nullptr;  ///< for finish_hopper_stage(); null for a pointwise stage
};

/// Null functions where nothing that can be run has been compiled for these dtypes. Threads: safe.
HopperStageFunctions find_hopper_stage(const HopperStageKernel& kernel, const Stage& stage);

/// Bytes of states that tiles of a reduction leave for all products together.
std::size_t hopper_partials_bytes(const HopperStageKernel& kernel, const Stage& stage);

/// Enqueues what combines them and stores the results; nothing for a pointwise stage. Throws
/// Error(backend_failure).
void finish_hopper_stage(const HopperStageFunctions& functions, const HopperStageKernel& kernel,
                         const HopperEpilogue& epilogue, const Stage& stage, cudaStream_t stream);

}  // namespace detail
}  // namespace postlude

#endif
