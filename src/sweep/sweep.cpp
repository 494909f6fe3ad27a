#include "sweep/sweep.hpp"

#include "compat/with_instance.hpp"
#include "sweep/compiled_stages.hpp"
#include "sweep/inner_reduction.hpp"
#include "sweep/outer_reduction.hpp"
#include "sweep/pointwise.hpp"

namespace postlude {
namespace detail {
namespace {

template <class T, class Code, class Space>
void run_as(const Space& space, SweepKind kind, const Stage& stage, ReductionState* partials) {
  switch (kind) {
    case SweepKind::pointwise:
      pointwise_sweep<T, Code>(space, stage);
      break;
    case SweepKind::inner_reduction:
      inner_reduction_sweep<T, Code>(space, stage);
      break;
    case SweepKind::outer_reduction:
      outer_reduction_sweep<T, Code>(space, stage, partials);
      break;
  }
}

/// Runs the stage as one of the compiled ones, if it is one.
template <class Space>
bool run_compiled_stage(const Space& space, SweepKind kind, const Stage& stage,
                        ReductionState* partials) {
  const auto run_if_pointwise = [&](auto code) {
    using Code = decltype(code);
    if (!matches<Code>(stage)) return false;
    pointwise_sweep<float, Code>(space, stage);
    return true;
  };
  const auto run_if_reduction = [&](auto code) {
    using Code = decltype(code);
    if (!matches<Code>(stage)) return false;
    if (kind == SweepKind::inner_reduction)
      inner_reduction_sweep<float, Code>(space, stage);
    else
      outer_reduction_sweep<float, Code>(space, stage, partials);
    return true;
  };
  if (kind == SweepKind::pointwise)
    return run_if_pointwise(BiasAdd<float>()) || run_if_pointwise(BiasMinSubtract<float>()) ||
           run_if_pointwise(BiasActivation<float, Operation::relu>()) ||
           run_if_pointwise(BiasActivation<float, Operation::gelu>()) ||
           run_if_pointwise(BiasActivation<float, Operation::silu>());
  return run_if_reduction(BiasReduce<float, Reduction::max>());
}

template <class T, class Space>
void run(const Space& space, SweepKind kind, const Stage& stage, ReductionState* partials) {
  if constexpr (is_device_space<Space>() && std::is_same<T, float>::value)
    if (run_compiled_stage(space, kind, stage, partials)) return;
  run_as<T, InterpretedCode>(space, kind, stage, partials);
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
