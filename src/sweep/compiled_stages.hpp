#ifndef POSTLUDE_SWEEP_COMPILED_STAGES_HPP
#define POSTLUDE_SWEEP_COMPILED_STAGES_HPP

#include <cstddef>

#include "evaluator/code.hpp"
#include "evaluator/stage.hpp"
#include "plan/planned_stage.hpp"

namespace postlude {
namespace detail {

// Stages common enough to be compiled in. On a GPU the interpreter takes about three times as long
// as the memory needs for a short stage, since decoding is a chain of dependent loads and branches
// in every thread; a compiled stage runs at the speed of hand-written code.

POSTLUDE_FUNCTION constexpr Instruction make_instruction(Action action, Operation operation,
                                                         Source first, Source second, int target) {
  Instruction instruction;
  instruction.action = action;
  instruction.operation = operation;
  instruction.target = static_cast<std::uint8_t>(target);
  instruction.sources[0] = first;
  instruction.sources[1] = second;
  return instruction;
}

POSTLUDE_FUNCTION constexpr Source accumulator_source() {
  return Source(SourceKind::accumulator, 0);
}

/// y + bias: y is operand 0 and bias operand 1 wherever y is used once.
POSTLUDE_FUNCTION constexpr Instruction add_bias() {
  return make_instruction(Action::binary, Operation::add, Source(SourceKind::operand, 0),
                          Source(SourceKind::operand, 1), 0);
}

POSTLUDE_FUNCTION constexpr Instruction apply_to_accumulator(Operation operation) {
  return make_instruction(Action::unary, operation, accumulator_source(), Source(), 0);
}

POSTLUDE_FUNCTION constexpr Instruction apply_with_scalar(Operation operation) {
  return make_instruction(Action::binary, operation, accumulator_source(),
                          Source(SourceKind::scalar, 0), 0);
}

POSTLUDE_FUNCTION constexpr Instruction store_accumulator() {
  return make_instruction(Action::store, Operation::add, accumulator_source(), Source(), 2);
}

POSTLUDE_FUNCTION constexpr Instruction reduce_accumulator() {
  return make_instruction(Action::reduce, Operation::add, accumulator_source(), Source(), 0);
}

/// result = activation(y + bias).
template <class T, Operation activation>
struct BiasActivation : CompiledCode<T> {
  static constexpr std::size_t instruction_count = 3;
  static constexpr bool reduces = false;
  template <std::size_t index>
  POSTLUDE_FUNCTION static constexpr Instruction instruction() {
    return index == 0 ? add_bias()
                      : (index == 1 ? apply_to_accumulator(activation) : store_accumulator());
  }
  POSTLUDE_FUNCTION static constexpr Reduction kind(const Stage&, int) { return Reduction::sum; }
};

/// result = y + bias.
template <class T>
struct BiasAdd : CompiledCode<T> {
  static constexpr std::size_t instruction_count = 2;
  static constexpr bool reduces = false;
  template <std::size_t index>
  POSTLUDE_FUNCTION static constexpr Instruction instruction() {
    return index == 0 ? add_bias() : store_accumulator();
  }
  POSTLUDE_FUNCTION static constexpr Reduction kind(const Stage&, int) { return Reduction::sum; }
};

/// result = min(y + bias, c) - c: the founding workload S1.
template <class T>
struct BiasMinSubtract : CompiledCode<T> {
  static constexpr std::size_t instruction_count = 4;
  static constexpr bool reduces = false;
  template <std::size_t index>
  POSTLUDE_FUNCTION static constexpr Instruction instruction() {
    return index == 0   ? add_bias()
           : index == 1 ? apply_with_scalar(Operation::min)
           : index == 2 ? apply_with_scalar(Operation::subtract)
                        : store_accumulator();
  }
  POSTLUDE_FUNCTION static constexpr Reduction kind(const Stage&, int) { return Reduction::sum; }
};

/// reduction of y + bias over one dimension: the founding workload S2, and pooled layers.
template <class T, Reduction reduction>
struct BiasReduce : CompiledCode<T> {
  static constexpr std::size_t instruction_count = 2;
  static constexpr bool reduces = true;
  template <std::size_t index>
  POSTLUDE_FUNCTION static constexpr Instruction instruction() {
    return index == 0 ? add_bias() : reduce_accumulator();
  }
  POSTLUDE_FUNCTION static constexpr Reduction kind(const Stage&, int) { return reduction; }
};

inline bool is_same(const Source& a, const Source& b) {
  return a.kind() == b.kind() && a.index() == b.index();
}

/// `b` of a compiled stage leaves the fields at zero that its action does not read.
inline bool is_same(const Instruction& a, const Instruction& b) {
  const bool computes =
      b.action == Action::unary || b.action == Action::binary || b.action == Action::ternary;
  return a.action == b.action && (!computes || a.operation == b.operation) && a.slot == b.slot &&
         a.target == b.target && is_same(a.sources[0], b.sources[0]) &&
         (b.action != Action::binary || is_same(a.sources[1], b.sources[1]));
}

template <class Code, std::size_t... index>
bool has_instructions(const Stage& stage, std::index_sequence<index...>) {
  return (is_same(stage.instructions[index], Code::template instruction<index>()) && ...);
}

/// Whether the stage is this compiled one. `operands` is the number of arrays that it uses.
template <class Code>
bool matches(const Stage& stage) {
  if (stage.instruction_count != static_cast<int>(Code::instruction_count)) return false;
  if (stage.reduction_count != (Code::reduces ? 1 : 0)) return false;
  if (Code::reduces && stage.reductions[0].kind != Code::kind(stage, 0)) return false;
  const int read_or_stored = Code::reduces ? 2 : 3;
  for (int i = 0; i < read_or_stored; ++i)
    if (stage.operands[i].dtype != Code::dtype(stage, i)) return false;
  return has_instructions<Code>(stage, std::make_index_sequence<Code::instruction_count>());
}

}  // namespace detail
}  // namespace postlude

#endif
