#ifndef POSTLUDE_PROGRAM_LOWER_HPP
#define POSTLUDE_PROGRAM_LOWER_HPP

#include <vector>

#include <postlude/expression.hpp>

#include "program/program.hpp"

namespace postlude {
namespace detail {

/// Turns an epilogue into a Program for y of shape `y` with dot products of length `depth`.
///
/// Resolves operand names against `declarations` and the kinds declared inside the expression,
/// infers shapes, and shares equal subexpressions. Operands keep the order of `declarations`,
/// followed by those declared inside the expression in order of first use.
/// Throws Error(unknown_name, shape_mismatch, invalid_argument), with a caret where there is text.
Program lower(const Epilogue& epilogue, const Shape& y, std::int64_t depth,
              const std::vector<OperandDeclaration>& declarations);

}  // namespace detail
}  // namespace postlude

#endif
