#ifndef POSTLUDE_SWEEP_HOST_LINE_HPP
#define POSTLUDE_SWEEP_HOST_LINE_HPP

#include "sweep/device_body.hpp"

namespace postlude {
namespace detail {

// What one host thread does with a line, block by block.

/// Elements of a block: it fits the first-level cache with all slots (128 floats x 16 blocks are
/// 8 KB).
constexpr int host_width = 128;

/// Runs a pointwise stage on the elements from `begin` to `end` of a line.
template <class T>
void evaluate_line(const Stage& stage, std::int64_t batch, std::int64_t outer, std::int64_t begin,
                   std::int64_t end) {
  for (std::int64_t inner = begin; inner < end; inner += host_width)
    evaluate<T, 1, host_width, InterpretedCode>(
        stage, Span{batch, outer, inner, outer + 1, end, 0, 0}, NoSink());
}

template <class T>
struct LineSink {
  const Stage& stage;
  ReductionState* states;
  const Span& span;

  void operator()(int target, const T* values) const {
    const StageReduction& reduction = stage.reductions[target];
    reduction_accumulate_block(reduction.kind, reduction.parameter, states[target], values,
                               span.count(0, host_width), span.inner);
  }
};

/// Runs an inner reduction on a line.
template <class T>
void reduce_line(const Stage& stage, std::int64_t batch, std::int64_t outer) {
  ReductionState states[maximum_reductions];
  for (int i = 0; i < stage.reduction_count; ++i)
    states[i] = reduction_identity<T>(stage.reductions[i].kind);
  for (std::int64_t inner = 0; inner < stage.inner; inner += host_width) {
    const Span span{batch, outer, inner, outer + 1, stage.inner, 0, 0};
    evaluate<T, 1, host_width, InterpretedCode>(stage, span, LineSink<T>{stage, states, span});
  }
  for (int i = 0; i < stage.reduction_count; ++i)
    store_reduced<T, InterpretedCode>(stage, i, batch, outer, 0, states[i], stage.inner);
}

}  // namespace detail
}  // namespace postlude

#endif
