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

/// Interprets a stage on `width` neighbouring elements held in registers (device) or in a block
/// that stays in the first-level cache (host), so that decoding an instruction is paid once for all
/// of them. Evaluates in T, float or double.
template <class T, int width>
class Evaluator {
 public:
  POSTLUDE_FUNCTION explicit Evaluator(const Stage& stage) : stage_(stage) {}

  /// Runs the instructions on the elements (at.batch, at.outer, at.inner + 0 .. count - 1). Values
  /// for reductions are given to `sink(reduction, lanes)`; lanes from `count` on are unspecified.
  template <class Sink>
  POSTLUDE_FUNCTION void run(const Position& at, int count, const Sink& sink) {
    for (int i = 0; i < stage_.instruction_count; ++i) {
      const Instruction& instruction = stage_.instructions[i];
      T scratch[width];
      const T* first = fetch(instruction.sources[0], at, count, scratch);
      if (instruction.action == Action::store) {
        store<T, width>(stage_.operands[instruction.target], at, count, first);
        continue;
      }
      if (instruction.action == Action::reduce) {
        sink(instruction.target, first);
        continue;
      }
      if (instruction.action == Action::load) {
        POSTLUDE_LANES
        for (int lane = 0; lane < width; ++lane) accumulator_[lane] = first[lane];
      } else {
        compute(instruction, first, at, count);
      }
      if (instruction.slot != Instruction::no_slot) {
        T* slot = slots_[instruction.slot];
        POSTLUDE_LANES
        for (int lane = 0; lane < width; ++lane) slot[lane] = accumulator_[lane];
      }
    }
  }

 private:
  /// The lanes of a source: on a device a copy in `scratch`, since an array that is selected by
  /// pointer would be forced out of the registers; on a host the place where they are.
  POSTLUDE_FUNCTION const T* fetch(const Source& source, const Position& at, int count,
                                   T* scratch) const {
    switch (source.kind) {
      case SourceKind::accumulator:
#if defined(POSTLUDE_ON_DEVICE)
        POSTLUDE_UNROLL
        for (int lane = 0; lane < width; ++lane) scratch[lane] = accumulator_[lane];
        break;
#else
        return accumulator_;
#endif
      case SourceKind::slot:
#if defined(POSTLUDE_ON_DEVICE)
        POSTLUDE_UNROLL
        for (int lane = 0; lane < width; ++lane) scratch[lane] = slots_[source.index][lane];
        break;
#else
        return slots_[source.index];
#endif
      case SourceKind::scalar: {
        const T value = static_cast<T>(stage_.scalars[source.index]);
        POSTLUDE_UNROLL
        for (int lane = 0; lane < width; ++lane) scratch[lane] = value;
        break;
      }
      case SourceKind::operand:
        load<T, width>(stage_.operands[source.index], at, count, scratch);
        break;
    }
    return scratch;
  }

  // One loop per arity: `formula` is applied to every lane.
  template <class Formula>
  POSTLUDE_FUNCTION void map(Formula formula, const T* a) {
    POSTLUDE_LANES
    for (int lane = 0; lane < width; ++lane) accumulator_[lane] = formula(a[lane]);
  }
  template <class Formula>
  POSTLUDE_FUNCTION void map(Formula formula, const T* a, const T* b) {
    POSTLUDE_LANES
    for (int lane = 0; lane < width; ++lane) accumulator_[lane] = formula(a[lane], b[lane]);
  }
  template <class Formula>
  POSTLUDE_FUNCTION void map(Formula formula, const T* a, const T* b, const T* c) {
    POSTLUDE_LANES
    for (int lane = 0; lane < width; ++lane)
      accumulator_[lane] = formula(a[lane], b[lane], c[lane]);
  }

  POSTLUDE_FUNCTION void compute(const Instruction& instruction, const T* a, const Position& at,
                                 int count) {
    T second[width];
    T third[width];
    const T* b = second;
    const T* c = third;
    if (instruction.action != Action::unary) b = fetch(instruction.sources[1], at, count, second);
    if (instruction.action == Action::ternary) c = fetch(instruction.sources[2], at, count, third);
    switch (instruction.operation) {
#define POSTLUDE_LAMBDA_1(name) map([](T u) { return formula::name(u); }, a)
#define POSTLUDE_LAMBDA_2(name) map([](T u, T v) { return formula::name(u, v); }, a, b)
#define POSTLUDE_LAMBDA_3(name) map([](T u, T v, T w) { return formula::name(u, v, w); }, a, b, c)
#define POSTLUDE_CASE(name, arity, signature, text) \
  case Operation::name:                             \
    POSTLUDE_LAMBDA_##arity(name);                  \
    break;
      POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_CASE)
      POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
#undef POSTLUDE_LAMBDA_3
#undef POSTLUDE_LAMBDA_2
#undef POSTLUDE_LAMBDA_1
    }
  }

  const Stage& stage_;
  T accumulator_[width];
  T slots_[maximum_slots][width];
};

}  // namespace detail
}  // namespace postlude

#endif
