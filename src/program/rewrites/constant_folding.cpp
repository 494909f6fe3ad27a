#include "program/constant_value.hpp"
#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {

// Rule: an operation of constants is a constant.
// Proof: the evaluator's own formula is evaluated once, in the arithmetic of the program, on the
// same numbers as in every element. (A device's function may differ from the host's in the last
// places, as GUIDE.md allows.)
std::optional<Replacement> fold_constants(RewriteBuilder& builder, const Value& value) {
  if (value.kind != NodeKind::pointwise) return std::nullopt;
  double numbers[3] = {};
  for (std::size_t i = 0; i < value.inputs.size(); ++i) {
    const std::optional<double> number = builder.constant_of(value.inputs[i]);
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  const double result = constant_result(value.operation, numbers, builder.arithmetic());
  return Replacement{builder.constant(result), "an operation of constants is a constant"};
}

}  // namespace detail
}  // namespace postlude
