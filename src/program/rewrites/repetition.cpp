#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {
namespace {

bool gives_whole_numbers(Operation operation) {
  return operation == Operation::floor || operation == Operation::ceil ||
         operation == Operation::round || operation == Operation::sign;
}

}  // namespace

// Rule: what is done twice is done once, and a sign that is lost anyway is not changed first.
// Proof: floor, ceil and round return whole numbers, infinities, NaN and zeros as they are. sign
// returns -1, 0, -0, 1 and NaN as they are. abs clears the sign bit. square multiplies v by itself,
// in which signs cancel. min and max of a value and itself are that value, NaN included.
std::optional<Replacement> drop_repetition(RewriteBuilder& b, const Value& value) {
  if (value.kind != NodeKind::pointwise) return std::nullopt;
  const int first = value.inputs[0];
  const Value& inner = b.value(first);
  const bool is_nested = inner.kind == NodeKind::pointwise;
  switch (value.operation) {
    case Operation::floor:
    case Operation::ceil:
    case Operation::round:
      if (is_nested && gives_whole_numbers(inner.operation))
        return Replacement{first, "it is a whole number already"};
      return std::nullopt;
    case Operation::sign:
      if (is_nested && inner.operation == Operation::sign)
        return Replacement{first, "sign(sign(v)) is sign(v)"};
      return std::nullopt;
    case Operation::abs:
      if (is_nested && inner.operation == Operation::abs)
        return Replacement{first, "abs(abs(v)) is abs(v)"};
      if (is_nested && inner.operation == Operation::negate)
        return Replacement{b.pointwise(Operation::abs, {inner.inputs[0]}), "abs(-v) is abs(v)"};
      return std::nullopt;
    case Operation::square:
      if (is_nested && (inner.operation == Operation::abs || inner.operation == Operation::negate))
        return Replacement{b.pointwise(Operation::square, {inner.inputs[0]}),
                           "a square does not depend on the sign"};
      return std::nullopt;
    case Operation::min:
    case Operation::max:
      if (first == value.inputs[1])
        return Replacement{first, "the smaller or larger of v and v is v"};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace detail
}  // namespace postlude
