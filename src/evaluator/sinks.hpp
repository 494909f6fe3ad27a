#ifndef POSTLUDE_EVALUATOR_SINKS_HPP
#define POSTLUDE_EVALUATOR_SINKS_HPP

#include <cstdint>

#include "evaluator/function.hpp"
#include "evaluator/memory_access.hpp"
#include "evaluator/reducers.hpp"
#include "evaluator/span.hpp"
#include "evaluator/stage.hpp"

namespace postlude {
namespace detail {

// Where the values go that a stage gives to its reductions, and how their results are stored: for
// sweeps, and for GEMMs that run a stage on their sums.

/// A pointwise stage never gives a value to a reduction.
struct NoSink {
  template <class T>
  POSTLUDE_FUNCTION void operator()(int, const T*) const {}
};

/// States of one thread for all reductions of a stage.
template <class T, int packets, int width, class Code>
struct InnerSink {
  const Stage& stage;
  ReductionState (&states)[maximum_reductions];
  const Span& span;

  POSTLUDE_FUNCTION void operator()(int target, const T* lanes) const {
    // Selecting by comparison keeps the states in registers; one copy of the code for all
    // reductions keeps the kernel small.
    ReductionState state = states[0];
    POSTLUDE_UNROLL
    for (int i = 1; i < maximum_reductions; ++i)
      if (i == target) state = states[i];
    reduction_accumulate<T, packets, width>(
        Code::kind(stage, target), stage.reductions[target].parameter,
        LaneTargets{&state, 0, span.inner, span.inner_step, 1}, lanes, span);
    POSTLUDE_UNROLL
    for (int i = 0; i < maximum_reductions; ++i)
      if (i == target) states[i] = state;
  }
};

/// Lane i of a packet has its own state; packets are lines.
template <class T, int packets, int width, class Code>
struct OuterSink {
  const Stage& stage;
  ReductionState* states;
  const Span& span;

  POSTLUDE_FUNCTION void operator()(int, const T* values) const {
    reduction_accumulate<T, packets, width>(Code::kind(stage, 0), stage.reductions[0].parameter,
                                            LaneTargets{states, 1, span.outer, span.outer_step, 0},
                                            values, span);
  }
};

/// Stores a reduction's result for one element of the reduced domain, rounded once from float64.
template <class T, class Code>
POSTLUDE_FUNCTION void store_reduced(const Stage& stage, int index, std::int64_t batch,
                                     std::int64_t outer, std::int64_t inner,
                                     const ReductionState& state, std::int64_t count) {
  const StageReduction& reduction = stage.reductions[index];
  const OperandAccess& output = stage.operands[reduction.output];
  const Span place{batch, outer, inner, outer + 1, inner + 1, 0, 0};
  const double value =
      reduction_finish<T>(Code::kind(stage, index), reduction.parameter, state, count);
  store<double, 1, 1>(output, stage.parts, place, &value);
}

/// Where the chunks of an outer reduction leave their states: partials[chunk][batch][inner].
struct Partials {
  ReductionState* states;
  std::int64_t batch;
  std::int64_t inner;

  POSTLUDE_FUNCTION ReductionState& at(std::int64_t chunk, std::int64_t b, std::int64_t i) const {
    return states[(chunk * batch + b) * inner + i];
  }
};

/// Combines the chunks' states of one column in order and stores the result.
template <class T, class Code>
POSTLUDE_FUNCTION void finish_outer_reduction(const Stage& stage, const Partials& partials,
                                              std::int64_t chunks, std::int64_t batch,
                                              std::int64_t inner) {
  if (!stage.condition.holds()) return;
  ReductionState state = partials.at(0, batch, inner);
  for (std::int64_t chunk = 1; chunk < chunks; ++chunk)
    reduction_combine<T>(Code::kind(stage, 0), stage.reductions[0].parameter, state,
                         partials.at(chunk, batch, inner));
  store_reduced<T, Code>(stage, 0, batch, 0, inner, state, stage.outer);
}

}  // namespace detail
}  // namespace postlude

#endif
