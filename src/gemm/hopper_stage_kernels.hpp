#ifndef POSTLUDE_GEMM_HOPPER_STAGE_KERNELS_HPP
#define POSTLUDE_GEMM_HOPPER_STAGE_KERNELS_HPP

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "evaluator/stage.hpp"
#include "gemm/hopper_epilogue.hpp"
#include "gemm/hopper_tile_stages.hpp"
#include "gemm/hopper_tiling.hpp"

namespace postlude {
namespace detail {

// Kernels of the hopper engine that run stages on their sums: compiled at run time, once for each
// distinct row of stages, format and width of tiles.

/// What a kernel is made for. No stage but the last one has partials.
struct HopperStageKernel {
  HopperFormat format = HopperFormat::split;
  int columns = 128;
  int count = 1;
  HopperTileStage stages[most_tile_stages];

  const HopperTileStage& last() const { return stages[count - 1]; }
};

/// The stages that a kernel was made for, with their addresses: as many as it has.
using HopperStages = std::array<const Stage*, most_tile_stages>;

/// Why there are no such kernels in this build, "" when there are.
std::string hopper_stage_refusal();

/// Compiles the kernels, all at once, for operands of the dtypes that `stages` have, unless that
/// has been done before: a few seconds. Returns why one of them is of no use, "" when all can be
/// run. Threads: safe. Throws Error(backend_failure).
std::string compile_hopper_stages(const std::vector<HopperStageKernel>& kernels,
                                  const HopperStages& stages);

/// What was compiled.
struct HopperStageFunctions {
  const void* kernel = nullptr;  ///< for hopper_multiply_with()
  const void* finish = nullptr;  ///< for finish_hopper_stages(); null where there are no partials
};

/// Null functions where nothing that can be run has been compiled for these dtypes. Threads: safe.
HopperStageFunctions find_hopper_stages(const HopperStageKernel& kernel,
                                        const HopperStages& stages);

/// Bytes of states that tiles of the last stage, a reduction, leave for all products together.
std::size_t hopper_partials_bytes(const HopperStageKernel& kernel, const HopperStages& stages);

/// Enqueues what combines them and stores the results; nothing where there are none. Throws
/// Error(backend_failure).
void finish_hopper_stages(const HopperStageFunctions& functions, const HopperStageKernel& kernel,
                          const HopperEpilogue& epilogue, const HopperStages& stages,
                          cudaStream_t stream);

}  // namespace detail
}  // namespace postlude

#endif
