#include "gemm/hopper_stage_kernels.hpp"

namespace postlude {
namespace detail {

std::string hopper_stage_refusal() {
  return "this build compiles nothing at run time: it lacks NVRTC or its CUDA is older than 12.8";
}

std::string compile_hopper_stage(const std::vector<HopperStageKernel>&, const Stage&) {
  return hopper_stage_refusal();
}

HopperStageFunctions find_hopper_stage(const HopperStageKernel&, const Stage&) { return {}; }

std::size_t hopper_partials_bytes(const HopperStageKernel&, const Stage&) { return 0; }

void finish_hopper_stage(const HopperStageFunctions&, const HopperStageKernel&,
                         const HopperEpilogue&, const Stage&, cudaStream_t) {}

}  // namespace detail
}  // namespace postlude
