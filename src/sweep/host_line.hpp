#ifndef POSTLUDE_SWEEP_HOST_LINE_HPP
#define POSTLUDE_SWEEP_HOST_LINE_HPP

#include <algorithm>

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

/// Whether lines are short, as the windows of a pool are, and lie one after another in everything
/// that the stage reads and stores: several of them can then be evaluated as one block.
inline bool has_short_lines(const Stage& stage) {
  if (stage.inner > host_width / 2) return false;
  const auto is_one_line = [&](int operand) {
    const OperandAccess& access = stage.operands[operand];
    return access.outer_divisor == 1 && access.inner_divisor == 1 &&
           access.stride_outer == stage.inner * access.stride_inner;
  };
  for (int i = 0; i < stage.instruction_count; ++i) {
    const Instruction& instruction = stage.instructions[i];
    if (instruction.action == Action::store && !is_one_line(instruction.target)) return false;
    for (const Source source : instruction.sources)
      if (source.kind() == SourceKind::operand && !is_one_line(source.index())) return false;
  }
  return true;
}

/// Lines of `line` elements, one after another.
template <class T>
struct ShortLinesSink {
  const Stage& stage;
  std::int64_t batch;
  std::int64_t first;
  std::int64_t lines;

  void operator()(int target, const T* values) const {
    const StageReduction& reduction = stage.reductions[target];
    for (std::int64_t line = 0; line < lines; ++line) {
      ReductionState state = reduction_identity<T>(reduction.kind);
      reduction_accumulate_block(reduction.kind, reduction.parameter, state,
                                 values + line * stage.inner, static_cast<int>(stage.inner), 0);
      store_reduced<T, InterpretedCode>(stage, target, batch, first + line, 0, state, stage.inner);
    }
  }
};

/// Lines that reduce_lines() had better be given at a time.
inline std::int64_t lines_at_once(const Stage& stage) {
  return has_short_lines(stage) ? 8 * (host_width / std::max<std::int64_t>(stage.inner, 1)) : 1;
}

/// Runs an inner reduction on the lines from `begin` to `end`.
template <class T>
void reduce_lines(const Stage& stage, std::int64_t batch, std::int64_t begin, std::int64_t end) {
  if (end - begin < 2 || stage.inner == 0 || !has_short_lines(stage)) {
    for (std::int64_t outer = begin; outer < end; ++outer) reduce_line<T>(stage, batch, outer);
    return;
  }
  const std::int64_t of_block = host_width / stage.inner;
  for (std::int64_t first = begin; first < end; first += of_block) {
    const std::int64_t lines = std::min(of_block, end - first);
    const Span span{batch, 0, first * stage.inner, 1, (first + lines) * stage.inner, 0, 0};
    evaluate<T, 1, host_width, InterpretedCode>(stage, span,
                                                ShortLinesSink<T>{stage, batch, first, lines});
  }
}

}  // namespace detail
}  // namespace postlude

#endif
