#ifndef POSTLUDE_EVALUATOR_EVALUATE_HPP
#define POSTLUDE_EVALUATOR_EVALUATE_HPP

#include <cstdint>

#include <postlude/operation_table.hpp>

#include "evaluator/formulas.hpp"
#include "evaluator/function.hpp"
#include "evaluator/memory_access.hpp"
#include "evaluator/stage.hpp"

namespace postlude {
namespace detail {

/// The lanes of a source. On a device they are copied to `scratch`, since an array that is selected
/// by pointer would be forced out of the registers; on a host their place is returned.
template <class T, int width>
POSTLUDE_FUNCTION const T* fetch(const Stage& stage, const Source& source, const Position& at,
                                 int count, const T (&accumulator)[width],
                                 const T (&slots)[maximum_slots][width], T (&scratch)[width]) {
  switch (source.kind) {
    case SourceKind::accumulator:
#if defined(POSTLUDE_ON_DEVICE)
      POSTLUDE_UNROLL
      for (int lane = 0; lane < width; ++lane) scratch[lane] = accumulator[lane];
      break;
#else
      return accumulator;
#endif
    case SourceKind::slot:
#if defined(POSTLUDE_ON_DEVICE)
      POSTLUDE_UNROLL
      for (int lane = 0; lane < width; ++lane) scratch[lane] = slots[source.index][lane];
      break;
#else
      return slots[source.index];
#endif
    case SourceKind::scalar: {
      const T value = static_cast<T>(stage.scalars[source.index]);
      POSTLUDE_UNROLL
      for (int lane = 0; lane < width; ++lane) scratch[lane] = value;
      break;
    }
    case SourceKind::operand:
      load<T, width>(stage.operands[source.index], at, count, scratch);
      break;
  }
  return scratch;
}

// One loop per arity: `formula` is applied to every lane.
template <int width, class T, class Formula>
POSTLUDE_FUNCTION void map(const Formula& formula, T* result, const T* a) {
  POSTLUDE_LANES
  for (int lane = 0; lane < width; ++lane) result[lane] = formula(a[lane]);
}
template <int width, class T, class Formula>
POSTLUDE_FUNCTION void map(const Formula& formula, T* result, const T* a, const T* b) {
  POSTLUDE_LANES
  for (int lane = 0; lane < width; ++lane) result[lane] = formula(a[lane], b[lane]);
}
template <int width, class T, class Formula>
POSTLUDE_FUNCTION void map(const Formula& formula, T* result, const T* a, const T* b, const T* c) {
  POSTLUDE_LANES
  for (int lane = 0; lane < width; ++lane) result[lane] = formula(a[lane], b[lane], c[lane]);
}

/// result = operation(a, b, c) on every lane; `result` may be one of the sources.
template <class T, int width>
POSTLUDE_FUNCTION void apply_operation(Operation operation, T* result, const T* a, const T* b,
                                       const T* c) {
  switch (operation) {
#define POSTLUDE_MAP_1(name) map<width>([](T u) { return formula::name(u); }, result, a)
#define POSTLUDE_MAP_2(name) map<width>([](T u, T v) { return formula::name(u, v); }, result, a, b)
#define POSTLUDE_MAP_3(name) \
  map<width>([](T u, T v, T w) { return formula::name(u, v, w); }, result, a, b, c)
#define POSTLUDE_CASE(name, arity, signature, text) \
  case Operation::name:                             \
    POSTLUDE_MAP_##arity(name);                     \
    break;
    POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_CASE)
    POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
#undef POSTLUDE_MAP_3
#undef POSTLUDE_MAP_2
#undef POSTLUDE_MAP_1
  }
}

/// Interprets a stage on `width` neighbouring elements held in registers (device) or in a block
/// that stays in the first-level cache (host), so that decoding an instruction is paid once for all
/// of them. Evaluates in T, float or double.
///
/// Runs the instructions on the elements (at.batch, at.outer, at.inner + 0 .. count - 1). Values
/// for reductions are given to `sink(reduction, lanes)`; lanes from `count` on are unspecified.
template <class T, int width, class Sink>
POSTLUDE_FUNCTION void evaluate(const Stage& stage, const Position& at, int count,
                                const Sink& sink) {
  // Apart from each other, so that only the slots, whose index is known at run time only, need
  // memory on a device.
  T accumulator[width];
  T slots[maximum_slots][width];
#if defined(POSTLUDE_ON_DEVICE)
  POSTLUDE_UNROLL
  for (int lane = 0; lane < width; ++lane) accumulator[lane] = T(0);
#endif
  for (int i = 0; i < stage.instruction_count; ++i) {
    const Instruction instruction = stage.instructions[i];
    T first[width];
    const T* a =
        fetch<T, width>(stage, instruction.sources[0], at, count, accumulator, slots, first);
    switch (instruction.action) {
      case Action::store:
        store<T, width>(stage.operands[instruction.target], at, count, a);
        continue;
      case Action::reduce:
        sink(instruction.target, a);
        continue;
      case Action::load:
        POSTLUDE_LANES
        for (int lane = 0; lane < width; ++lane) accumulator[lane] = a[lane];
        break;
      case Action::unary:
      case Action::binary:
      case Action::ternary: {
        T second[width];
        T third[width];
        const T* b = second;
        const T* c = third;
        if (instruction.action != Action::unary)
          b = fetch<T, width>(stage, instruction.sources[1], at, count, accumulator, slots, second);
        if (instruction.action == Action::ternary)
          c = fetch<T, width>(stage, instruction.sources[2], at, count, accumulator, slots, third);
        apply_operation<T, width>(instruction.operation, accumulator, a, b, c);
        break;
      }
    }
    if (instruction.slot != Instruction::no_slot) {
      POSTLUDE_LANES
      for (int lane = 0; lane < width; ++lane) slots[instruction.slot][lane] = accumulator[lane];
    }
  }
}

}  // namespace detail
}  // namespace postlude

#endif
