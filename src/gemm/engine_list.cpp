#include "gemm/engine_list.hpp"

#include "gemm/kokkos_kernels.hpp"

namespace postlude {
namespace detail {

const std::vector<const Engine*>& engine_list() {
  static const std::vector<const Engine*> engines = {&kokkos_kernels_engine()};
  return engines;
}

std::vector<EngineCandidate> consider_engines(const GemmProblem& problem) {
  std::vector<EngineCandidate> candidates;
  for (const Engine* engine : engine_list()) candidates.push_back(engine->consider(problem));
  return candidates;
}

}  // namespace detail
}  // namespace postlude
