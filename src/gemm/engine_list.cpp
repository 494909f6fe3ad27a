#include "gemm/engine_list.hpp"

#include "gemm/cublaslt.hpp"
#include "gemm/hopper.hpp"
#include "gemm/kokkos_kernels.hpp"
#include "gemm/microkernel.hpp"
#include "gemm/onednn.hpp"
#include "gemm/split.hpp"

namespace postlude {
namespace detail {

const std::vector<const Engine*>& engine_list() {
  static const std::vector<const Engine*> engines = {
      &hopper_engine(), &cublaslt_engine(),    &split_engine(),
      &onednn_engine(), &microkernel_engine(), &kokkos_kernels_engine()};
  return engines;
}

std::vector<EngineAnswer> consider_engines(const ExecutionSpace& space,
                                           const GemmProblem& problem) {
  std::vector<EngineAnswer> answers;
  for (const Engine* engine : engine_list())
    answers.push_back(engine->consider(space, problem, AlgorithmChoice()));
  return answers;
}

}  // namespace detail
}  // namespace postlude
