#include "sweep/sweep.hpp"

#include "compat/with_instance.hpp"
#include "sweep/inner_reduction.hpp"
#include "sweep/outer_reduction.hpp"
#include "sweep/pointwise.hpp"
#include "sweep/runtime_kernels.hpp"

namespace postlude {
namespace detail {
namespace {

template <class T, class Space>
void interpret(const Space& space, SweepKind kind, const Stage& stage, ReductionState* partials) {
  switch (kind) {
    case SweepKind::pointwise:
      pointwise_sweep<T>(space, stage);
      break;
    case SweepKind::inner_reduction:
      inner_reduction_sweep<T>(space, stage);
      break;
    case SweepKind::outer_reduction:
      outer_reduction_sweep<T>(space, stage, partials);
      break;
  }
}

}  // namespace

void run_stage(const ExecutionSpace& space, SweepKind kind, const Stage& stage, DataType compute,
               ReductionState* partials) {
  if (run_compiled_stage(space, kind, stage, compute, partials)) return;
  with_instance(space, [&](const auto& instance) {
    if (compute == DataType::float64)
      interpret<double>(instance, kind, stage, partials);
    else
      interpret<float>(instance, kind, stage, partials);
  });
}

}  // namespace detail
}  // namespace postlude
