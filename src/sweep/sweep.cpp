#include "sweep/sweep.hpp"

#include "compat/with_instance.hpp"
#include "sweep/inner_reduction.hpp"
#include "sweep/joined_sweep.hpp"
#include "sweep/outer_reduction.hpp"
#include "sweep/pointwise.hpp"
#include "sweep/runtime_kernels.hpp"
#include "sweep/stage_on_thread.hpp"

namespace postlude {
namespace detail {
namespace {

template <class T, class Space>
void interpret(const Space& space, const BoundStage& bound) {
  switch (bound.sweep) {
    case SweepKind::pointwise:
      pointwise_sweep<T>(space, bound.stage);
      break;
    case SweepKind::inner_reduction:
      inner_reduction_sweep<T>(space, bound.stage);
      break;
    case SweepKind::outer_reduction:
      outer_reduction_sweep<T>(space, bound.stage, bound.partials);
      break;
  }
}

/// Runs stages from `first` on, and returns how many.
template <class T, class Space>
std::size_t run_next(const Space& instance, const std::vector<BoundStage>& stages,
                     std::size_t first) {
  if constexpr (!is_device_space<Space>()) {
    std::size_t count = 1;
    while (first + count < stages.size() && stages[first + count].joins_previous) ++count;
    if (count > 1 && has_line_for_every_thread(instance, stages[first].stage)) {
      joined_sweep<T>(instance, &stages[first], count);
      return count;
    }
  }
  interpret<T>(instance, stages[first]);
  return 1;
}

}  // namespace

void run_stages(const ExecutionSpace& space, const std::vector<BoundStage>& stages,
                DataType compute) {
  with_instance(space, [&](const auto& instance) {
    for (std::size_t i = 0; i < stages.size();) {
      const BoundStage& next = stages[i];
      if (run_compiled_stage(space, next.sweep, next.stage, compute, next.partials))
        ++i;
      else if (compute == DataType::float64)
        i += run_next<double>(instance, stages, i);
      else
        i += run_next<float>(instance, stages, i);
    }
  });
}

void run_stages_on_thread(const std::vector<BoundStage>& stages, DataType compute) {
  for (const BoundStage& stage : stages) {
    if (compute == DataType::float64)
      stage_on_thread<double>(stage);
    else
      stage_on_thread<float>(stage);
  }
}

}  // namespace detail
}  // namespace postlude
