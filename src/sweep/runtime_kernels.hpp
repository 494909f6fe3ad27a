#ifndef POSTLUDE_SWEEP_RUNTIME_KERNELS_HPP
#define POSTLUDE_SWEEP_RUNTIME_KERNELS_HPP

#include <string>
#include <vector>

#include <postlude/data_type.hpp>
#include <postlude/execution_space.hpp>

#include "evaluator/reducers.hpp"
#include "evaluator/stage.hpp"
#include "plan/planned_stage.hpp"

namespace postlude {
namespace detail {

// Stages compiled at run time, on CUDA with NVRTC. In every GPU thread the interpreter is a chain
// of dependent loads and branches that takes about three times as long as the memory needs for a
// short stage; compiled from the same headers with its instructions as constants, a stage runs at
// the speed of hand-written code. A kernel is compiled once for each distinct stage and kept for
// the process.

/// "" when stages for this backend can be compiled at run time, else the reason why not.
std::string runtime_compilation_refusal(Backend backend);

/// A stage whose operands' dtypes are set, and how it is swept.
struct SweptStage {
  SweepKind kind;
  Stage stage;
};

/// Compiles stages, all at once, unless that has been done before. A third of a second or more.
/// Threads: safe. Throws Error(backend_failure).
void compile_stages(Backend backend, const std::vector<SweptStage>& stages, DataType compute);

/// Enqueues the stage if it has been compiled for these dtypes; false when it has not.
bool run_compiled_stage(const ExecutionSpace& space, SweepKind kind, const Stage& stage,
                        DataType compute, ReductionState* partials);

}  // namespace detail
}  // namespace postlude

#endif
