#include "gemm/hopper_stage_kernels.hpp"

namespace postlude {
namespace detail {

std::string hopper_stage_refusal() {
  return "this build compiles nothing at run time: it lacks NVRTC or its CUDA is older than 12.8";
}

std::string compile_hopper_stages(const std::vector<HopperStageKernel>&, const HopperStages&) {
  return hopper_stage_refusal();
}

HopperStageFunctions find_hopper_stages(const HopperStageKernel&, const HopperStages&) {
  return {};
}

std::size_t hopper_partials_bytes(const HopperStageKernel&, const HopperStages&) { return 0; }

void finish_hopper_stages(const HopperStageFunctions&, const HopperStageKernel&,
                          const HopperEpilogue&, const HopperStages&, cudaStream_t) {}

}  // namespace detail
}  // namespace postlude
