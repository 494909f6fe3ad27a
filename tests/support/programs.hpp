#ifndef POSTLUDE_TESTS_SUPPORT_PROGRAMS_HPP
#define POSTLUDE_TESTS_SUPPORT_PROGRAMS_HPP

#include <string>
#include <vector>

#include "program/lower.hpp"

namespace postlude {
namespace test {

/// One operand of every kind.
inline std::vector<OperandDeclaration> operands_of_every_kind() {
  return {{"bias", OperandKind::row},
          {"scale", OperandKind::column},
          {"residual", OperandKind::matrix},
          {"c", OperandKind::scalar},
          {"gain", OperandKind::element}};
}

/// The same with a leading batch dimension on all that can have one.
inline std::vector<OperandDeclaration> batched_operands_of_every_kind() {
  std::vector<OperandDeclaration> operands = operands_of_every_kind();
  for (OperandDeclaration& operand : operands)
    operand.is_batched = operand.kind != OperandKind::scalar;
  return operands;
}

/// The program for y of 5 x 7 with these operands.
inline detail::Program lower(const Epilogue& epilogue) {
  return detail::lower(epilogue, {1, 5, 7}, 3, operands_of_every_kind());
}

/// The same as text, which tells whether two programs are equal.
inline std::string lowered(const Epilogue& epilogue) { return to_string(lower(epilogue)); }

}  // namespace test
}  // namespace postlude

#endif
