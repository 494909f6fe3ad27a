#ifndef POSTLUDE_EVALUATOR_CODE_HPP
#define POSTLUDE_EVALUATOR_CODE_HPP

#include "evaluator/function.hpp"
#include "evaluator/stage.hpp"

namespace postlude {
namespace detail {

// Where the evaluator takes a stage's instructions from. A Code is a type with
//   is_static                whether everything below is known to the compiler
//   kind(stage, i)           the i-th reduction
//   dtype(stage, operand)    the element type of an operand
// and, when it is static, instruction_count and instruction(i).

/// The instructions of the stage itself, decoded at run time: any program, at the price of
/// decoding.
struct InterpretedCode {
  static constexpr bool is_static = false;
  POSTLUDE_FUNCTION static Reduction kind(const Stage& stage, int reduction) {
    return stage.reductions[reduction].kind;
  }
  POSTLUDE_FUNCTION static DataType dtype(const Stage& stage, int operand) {
    return stage.operands[operand].dtype;
  }
};

/// What compiled instructions have in common: all operands are of the type of the arithmetic.
template <class T>
struct CompiledCode {
  static constexpr bool is_static = true;
  POSTLUDE_FUNCTION static DataType dtype(const Stage&, int) { return DataTypeOf<T>::value; }
};

}  // namespace detail
}  // namespace postlude

#endif
