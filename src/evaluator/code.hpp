#ifndef POSTLUDE_EVALUATOR_CODE_HPP
#define POSTLUDE_EVALUATOR_CODE_HPP

#include "evaluator/function.hpp"
#include "evaluator/stage.hpp"

namespace postlude {
namespace detail {

// Where the evaluator takes a stage's instructions from. A Code is a type with
//   is_static              whether the compiler knows the instructions
//   reductions(stage)      the number of reductions
//   kind(stage, i)         the i-th reduction
// and, when it is static,
//   instruction_count and instruction<i>()
//   dtype(i)               the element type of an operand
//   is_shared(i)           whether neighbours share elements of it (a divisor above 1)

/// The instructions of the stage itself, decoded at run time: any program, at the price of
/// decoding.
struct InterpretedCode {
  static constexpr bool is_static = false;
  POSTLUDE_FUNCTION static int reductions(const Stage& stage) { return stage.reduction_count; }
  POSTLUDE_FUNCTION static Reduction kind(const Stage& stage, int reduction) {
    return stage.reductions[reduction].kind;
  }
};

}  // namespace detail
}  // namespace postlude

#endif
