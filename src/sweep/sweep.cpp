#include "sweep/sweep.hpp"

#include <string>

#include "compat/with_instance.hpp"
#include "sweep/inner_reduction.hpp"
#include "sweep/outer_reduction.hpp"
#include "sweep/pointwise.hpp"

namespace postlude {
namespace detail {
namespace {

template <class T, class Space>
void run(const Space& space, SweepKind kind, const Stage& stage, ReductionState* partials) {
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
  with_instance(space, [&](const auto& instance) {
    if (compute == DataType::float64)
      run<double>(instance, kind, stage, partials);
    else
      run<float>(instance, kind, stage, partials);
  });
}

}  // namespace detail
}  // namespace postlude
