#include "sweep/runtime_kernels.hpp"

namespace postlude {
namespace detail {

std::string runtime_compilation_refusal(Backend) {
  return "this build has no compiler for run time (NVRTC of CUDA 12.8 or newer)";
}

void compile_stages(Backend, const std::vector<SweptStage>&, DataType) {}

bool run_compiled_stage(const ExecutionSpace&, SweepKind, const Stage&, DataType, ReductionState*) {
  return false;
}

}  // namespace detail
}  // namespace postlude
