#ifndef POSTLUDE_EVALUATOR_EVALUATE_HPP
#define POSTLUDE_EVALUATOR_EVALUATE_HPP

#include <cstddef>
#include <utility>

#include <postlude/operation_table.hpp>

#include "evaluator/code.hpp"
#include "evaluator/formulas.hpp"
#include "evaluator/function.hpp"
#include "evaluator/memory_access.hpp"
#include "evaluator/philox.hpp"
#include "evaluator/span.hpp"
#include "evaluator/stage.hpp"

namespace postlude {
namespace detail {

/// The lanes of a source. On a device they are copied to `scratch`, since an array that is selected
/// by pointer would be forced out of the registers; on a host their place is returned.
template <class T, int packets, int width>
POSTLUDE_FUNCTION const T* fetch(const Stage& stage, Source source, const Span& span,
                                 const T (&accumulator)[packets * width],
                                 const T (&slots)[maximum_slots][packets * width],
                                 T (&scratch)[packets * width]) {
  switch (source.kind()) {
    case SourceKind::accumulator:
#if defined(POSTLUDE_ON_DEVICE)
      POSTLUDE_UNROLL
      for (int lane = 0; lane < packets * width; ++lane) scratch[lane] = accumulator[lane];
      break;
#else
      return accumulator;
#endif
    case SourceKind::slot:
#if defined(POSTLUDE_ON_DEVICE)
      POSTLUDE_UNROLL
      for (int lane = 0; lane < packets * width; ++lane)
        scratch[lane] = slots[source.index()][lane];
      break;
#else
      return slots[source.index()];
#endif
    case SourceKind::scalar: {
      const T value = static_cast<T>(stage.scalars[source.index()]);
      POSTLUDE_UNROLL
      for (int lane = 0; lane < packets * width; ++lane) scratch[lane] = value;
      break;
    }
    case SourceKind::operand:
      load<T, packets, width>(stage.operands[source.index()], stage.parts, span, scratch);
      break;
  }
  return scratch;
}

#if !defined(POSTLUDE_ON_DEVICE)
/// Which values of a host's block are one number in all lanes: what comes from scalars and from
/// operands that broadcast along the inner dimension, as sqrt(var + eps) in a normalisation. Their
/// operations are computed once for the block. (On a device a lane more costs nothing.)
struct UniformValues {
  bool accumulator = false;
  bool slots[maximum_slots] = {};

  bool has(const Stage& stage, Source source) const {
    switch (source.kind()) {
      case SourceKind::accumulator:
        return accumulator;
      case SourceKind::slot:
        return slots[source.index()];
      case SourceKind::scalar:
        return true;
      case SourceKind::operand: {
        const OperandAccess& access = stage.operands[source.index()];
        return access.stride_inner == 0 && access.inner_divisor == 1;
      }
    }
    return false;
  }

  bool has_all(const Stage& stage, const Instruction& instruction) const {
    const int count = instruction.action == Action::ternary  ? 3
                      : instruction.action == Action::binary ? 2
                                                             : 1;
    for (int i = 0; i < count; ++i)
      if (!has(stage, instruction.sources[i])) return false;
    return instruction.action != Action::random;
  }
};
#else
struct UniformValues {};
#endif

// One loop per arity: `formula` is applied to every lane.
template <int lanes, class T, class Formula>
POSTLUDE_FUNCTION void map(const Formula& formula, T* result, const T* a) {
  POSTLUDE_LANES
  for (int lane = 0; lane < lanes; ++lane) result[lane] = formula(a[lane]);
}
template <int lanes, class T, class Formula>
POSTLUDE_FUNCTION void map(const Formula& formula, T* result, const T* a, const T* b) {
  POSTLUDE_LANES
  for (int lane = 0; lane < lanes; ++lane) result[lane] = formula(a[lane], b[lane]);
}
template <int lanes, class T, class Formula>
POSTLUDE_FUNCTION void map(const Formula& formula, T* result, const T* a, const T* b, const T* c) {
  POSTLUDE_LANES
  for (int lane = 0; lane < lanes; ++lane) result[lane] = formula(a[lane], b[lane], c[lane]);
}

/// One operation of the table: result = operation(a, b, c) on every lane; `result` may be one of
/// the sources.
template <Operation operation>
struct Only;

#define POSTLUDE_MAP_1(name) map<lanes>([](T u) { return formula::name(u); }, result, a)
#define POSTLUDE_MAP_2(name) map<lanes>([](T u, T v) { return formula::name(u, v); }, result, a, b)
#define POSTLUDE_MAP_3(name) \
  map<lanes>([](T u, T v, T w) { return formula::name(u, v, w); }, result, a, b, c)
#define POSTLUDE_OPERATION(name, arity, signature, text)                                    \
  template <>                                                                               \
  struct Only<Operation::name> {                                                            \
    template <int lanes, class T>                                                           \
    POSTLUDE_FUNCTION static void apply(T* result, const T* a, [[maybe_unused]] const T* b, \
                                        [[maybe_unused]] const T* c) {                      \
      POSTLUDE_MAP_##arity(name);                                                           \
    }                                                                                       \
  };
POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_OPERATION)
POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_OPERATION)
#undef POSTLUDE_OPERATION
#undef POSTLUDE_MAP_3
#undef POSTLUDE_MAP_2
#undef POSTLUDE_MAP_1

/// An operation that is known at run time only.
template <int lanes, class T>
POSTLUDE_FUNCTION void apply_any(Operation operation, T* result, const T* a, const T* b,
                                 const T* c) {
  switch (operation) {
#define POSTLUDE_CASE(name, arity, signature, text)                \
  case Operation::name:                                            \
    Only<Operation::name>::template apply<lanes>(result, a, b, c); \
    break;
    POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_CASE)
    POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
  }
}

/// Uniform random numbers of the elements of a span, whose indices `position` counts: its address
/// is the index of its first element.
template <class T, int packets, int width>
POSTLUDE_FUNCTION void draw(const OperandAccess& position, std::int64_t parts, double seed,
                            const Span& span, T* result) {
  const LaneLayout layout(position, parts, span);
  const auto key = static_cast<std::uint64_t>(static_cast<std::int64_t>(seed));
  const std::int64_t first =
      layout.first + static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(position.data));
  PhiloxNeighbours neighbours(key);
  POSTLUDE_UNROLL
  for (int p = 0; p < packets; ++p) {
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane) {
      const std::int64_t index = first + p * layout.packet_stride + lane * layout.lane_stride;
      result[p * width + lane] =
          static_cast<T>(neighbours.uniform(static_cast<std::uint64_t>(index)));
    }
  }
}

/// Carries out one instruction that is known at run time only.
template <class T, int packets, int width, class Sink>
POSTLUDE_FUNCTION void step(const Stage& stage, const Instruction instruction, const Span& span,
                            const Sink& sink, T (&accumulator)[packets * width],
                            T (&slots)[maximum_slots][packets * width],
                            [[maybe_unused]] UniformValues& uniform) {
  T first[packets * width];
  const T* a = first;
  if (instruction.action != Action::random)
    a = fetch<T, packets, width>(stage, instruction.sources[0], span, accumulator, slots, first);
#if !defined(POSTLUDE_ON_DEVICE)
  const bool is_uniform = uniform.has_all(stage, instruction);
#endif
  switch (instruction.action) {
    case Action::store:
      store<T, packets, width>(stage.operands[instruction.target], stage.parts, span, a);
      return;
    case Action::reduce:
      sink(instruction.target, a);
      return;
    case Action::random:
      draw<T, packets, width>(stage.operands[instruction.sources[0].index()], stage.parts,
                              stage.scalars[instruction.sources[1].index()], span, accumulator);
      break;
    case Action::load:
      POSTLUDE_LANES
      for (int lane = 0; lane < packets * width; ++lane) accumulator[lane] = a[lane];
      break;
    case Action::unary:
    case Action::binary:
    case Action::ternary: {
      T second[packets * width];
      T third[packets * width];
      const T* b = second;
      const T* c = third;
      if (instruction.action != Action::unary)
        b = fetch<T, packets, width>(stage, instruction.sources[1], span, accumulator, slots,
                                     second);
      if (instruction.action == Action::ternary)
        c = fetch<T, packets, width>(stage, instruction.sources[2], span, accumulator, slots,
                                     third);
#if !defined(POSTLUDE_ON_DEVICE)
      if (is_uniform) {
        T value[1];
        apply_any<1>(instruction.operation, value, a, b, c);
        for (int lane = 0; lane < packets * width; ++lane) accumulator[lane] = value[0];
        break;
      }
#endif
      apply_any<packets * width>(instruction.operation, accumulator, a, b, c);
      break;
    }
  }
#if !defined(POSTLUDE_ON_DEVICE)
  uniform.accumulator = is_uniform;
  if (instruction.slot != Instruction::no_slot)
    uniform.slots[instruction.slot] = uniform.accumulator;
#endif
  if (instruction.slot == Instruction::no_slot) return;
  POSTLUDE_LANES
  for (int lane = 0; lane < packets * width; ++lane)
    slots[instruction.slot][lane] = accumulator[lane];
}

/// fetch() for a source that the compiler knows.
template <SourceKind kind, int index, int packets, int width, class Code, class T>
POSTLUDE_FUNCTION const T* fetch_known(
    [[maybe_unused]] const Stage& stage, [[maybe_unused]] const Span& span,
    [[maybe_unused]] const T (&accumulator)[packets * width],
    [[maybe_unused]] const T (&slots)[maximum_slots][packets * width],
    [[maybe_unused]] T (&scratch)[packets * width]) {
  if constexpr (kind == SourceKind::accumulator) {
    return accumulator;
  } else if constexpr (kind == SourceKind::slot) {
    return slots[index];
  } else {
    if constexpr (kind == SourceKind::scalar) {
      const T value = static_cast<T>(stage.scalars[index]);
      POSTLUDE_UNROLL
      for (int lane = 0; lane < packets * width; ++lane) scratch[lane] = value;
    } else {
      using From = typename Storage<Code::dtype(index)>::type;
      const OperandAccess& access = stage.operands[index];
      if constexpr (Code::is_shared(index))
        read_shared_lanes<From, T, packets, width>(static_cast<const From*>(access.data), access,
                                                   stage.parts, span, scratch);
      else
        read_lanes<From, T, packets, width>(static_cast<const From*>(access.data),
                                            LaneLayout(access, stage.parts, span), span, scratch);
    }
    return scratch;
  }
}

/// step() for an instruction that the compiler knows: nothing is decoded, and only what the
/// instruction does is compiled.
template <std::size_t index, int packets, int width, class Code, class T, class Sink>
POSTLUDE_FUNCTION void step_known(const Stage& stage, const Span& span,
                                  [[maybe_unused]] const Sink& sink,
                                  T (&accumulator)[packets * width],
                                  T (&slots)[maximum_slots][packets * width]) {
  constexpr Instruction instruction = Code::template instruction<index>();
  constexpr Action action = instruction.action;
  constexpr Source first_source = instruction.sources[0];
  if constexpr (action == Action::random) {
    draw<T, packets, width>(stage.operands[first_source.index()], stage.parts,
                            stage.scalars[instruction.sources[1].index()], span, accumulator);
  } else {
    T first[packets * width];
    const T* a = fetch_known<first_source.kind(), first_source.index(), packets, width, Code>(
        stage, span, accumulator, slots, first);
    if constexpr (action == Action::store) {
      using To = typename Storage<Code::dtype(instruction.target)>::type;
      const OperandAccess& access = stage.operands[instruction.target];
      write_lanes<To, T, packets, width>(a, LaneLayout(access, stage.parts, span), span,
                                         static_cast<To*>(access.data));
    } else if constexpr (action == Action::reduce) {
      sink(instruction.target, a);
    } else if constexpr (action == Action::load) {
      POSTLUDE_UNROLL
      for (int lane = 0; lane < packets * width; ++lane) accumulator[lane] = a[lane];
    } else {
      T second[packets * width];
      T third[packets * width];
      const T* b = second;
      const T* c = third;
      if constexpr (action != Action::unary) {
        constexpr Source source = instruction.sources[1];
        b = fetch_known<source.kind(), source.index(), packets, width, Code>(
            stage, span, accumulator, slots, second);
      }
      if constexpr (action == Action::ternary) {
        constexpr Source source = instruction.sources[2];
        c = fetch_known<source.kind(), source.index(), packets, width, Code>(
            stage, span, accumulator, slots, third);
      }
      Only<instruction.operation>::template apply<packets * width>(accumulator, a, b, c);
    }
  }
  if constexpr (instruction.slot != Instruction::no_slot) {
    POSTLUDE_UNROLL
    for (int lane = 0; lane < packets * width; ++lane)
      slots[instruction.slot][lane] = accumulator[lane];
  }
}

/// Carries out instructions that the compiler knows.
template <class T, int packets, int width, class Code, class Sink, std::size_t... index>
POSTLUDE_FUNCTION void run_known(const Stage& stage, const Span& span, const Sink& sink,
                                 T (&accumulator)[packets * width],
                                 T (&slots)[maximum_slots][packets * width],
                                 std::index_sequence<index...>) {
  (step_known<index, packets, width, Code>(stage, span, sink, accumulator, slots), ...);
}

/// Runs a stage on the elements of a span, held in registers (device) or in blocks that stay in the
/// first-level cache (host), so that decoding an instruction is paid once for all of them.
/// Evaluates in T, float or double.
///
/// Values for reductions are given to `sink(reduction, lanes)`, packets * width values; those of
/// lanes without an element are unspecified.
template <class T, int packets, int width, class Code, class Sink>
POSTLUDE_FUNCTION void evaluate(const Stage& stage, const Span& span, const Sink& sink) {
  // Apart from each other, so that only the slots, whose index is known at run time only, need
  // memory on a device.
  T accumulator[packets * width];
  T slots[maximum_slots][packets * width];
#if defined(POSTLUDE_ON_DEVICE)
  POSTLUDE_UNROLL
  for (int lane = 0; lane < packets * width; ++lane) accumulator[lane] = T(0);
#endif
  if constexpr (Code::is_static) {
    run_known<T, packets, width, Code>(stage, span, sink, accumulator, slots,
                                       std::make_index_sequence<Code::instruction_count>());
  } else {
    UniformValues uniform;
    for (int i = 0; i < stage.instruction_count; ++i)
      step<T, packets, width>(stage, stage.instructions[i], span, sink, accumulator, slots,
                              uniform);
  }
}

}  // namespace detail
}  // namespace postlude

#endif
