#ifndef POSTLUDE_EXECUTE_RUN_PANELS_HPP
#define POSTLUDE_EXECUTE_RUN_PANELS_HPP

#include <vector>

#include <postlude/execution_space.hpp>
#include <postlude/plan.hpp>

#include "execute/binding.hpp"
#include "gemm/engine.hpp"
#include "plan/planner.hpp"

namespace postlude {
namespace detail {

/// Runs a plan that has panels: the GEMM of each, followed by the stages that read y, and the other
/// stages before and after. `gemm` and `arguments` are those of all of y.
void run_in_panels(const ExecutionSpace& space, const ExecutionPlan& plan, const GemmPlan& engine,
                   const GemmProblem& gemm, const GemmArguments& arguments,
                   const BoundMemory& memory, const std::vector<const Binding*>& bindings,
                   const std::vector<Tensor>& outputs);

}  // namespace detail
}  // namespace postlude

#endif
