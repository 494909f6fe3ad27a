#ifndef POSTLUDE_GEMM_ENGINE_LIST_HPP
#define POSTLUDE_GEMM_ENGINE_LIST_HPP

#include <vector>

#include "gemm/engine.hpp"

namespace postlude {
namespace detail {

/// All engines in order of preference, ending with the portable one.
const std::vector<const Engine*>& engine_list();

/// What every engine says of a problem, in the order of engine_list().
std::vector<EngineAnswer> consider_engines(const ExecutionSpace& space, const GemmProblem& problem);

}  // namespace detail
}  // namespace postlude

#endif
