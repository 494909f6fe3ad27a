#ifndef POSTLUDE_EXPRESSION_SIGNATURE_HPP
#define POSTLUDE_EXPRESSION_SIGNATURE_HPP

#include <string>
#include <string_view>
#include <vector>

#include <postlude/operation_table.hpp>

namespace postlude {
namespace detail {

struct Parameter {
  std::string name;
  bool has_default = false;
  bool is_optional = false;  ///< may be left out, without a value in its place
  double default_value = 0;
};

/// What the operation table says of one pointwise operation.
struct OperationSignature {
  Operation operation;
  std::string name;
  int arity;
  bool is_operator;  ///< written as an operator, not callable by name
  std::string text;  ///< the signature as in the table
  std::vector<Parameter> parameters;
};

/// How tightly an infix operator binds.
enum class Precedence { comparison, sum, product, power };

/// How an operation of the table that is an operator is written.
struct OperatorSignature {
  Operation operation;
  std::string_view symbol;
  std::string_view other_name;  ///< what other languages call a function that does this
  Precedence precedence;
};

/// What the operation table says of one reduction.
struct ReductionSignature {
  Reduction reduction;
  std::string name;
  std::string parameter;  ///< keyword of its number, "" if it has none
  double default_value;
};

/// What the operation table says of one composite function.
struct CompositeSignature {
  Composite composite;
  std::string name;
  std::string text;
  std::vector<Parameter> parameters;
};

const OperationSignature& signature_of(Operation operation);
const CompositeSignature& signature_of(Composite composite);
const ReductionSignature& signature_of(Reduction reduction);

/// Null when no function, alias included, has this name. Operators are not found.
const OperationSignature* find_function(std::string_view name);
const ReductionSignature* find_reduction(std::string_view name);
const CompositeSignature* find_composite(std::string_view name);

/// The operator that is written so between two values (`arity` 2) or before one (1); null when
/// there is none.
const OperatorSignature* find_operator(std::string_view symbol, int arity);
/// The operator that does what a function of this name does elsewhere, or "".
std::string operator_instead_of(std::string_view function);

/// True for `y`, `inf`, `nan`, `return` and every function and reduction.
bool is_reserved_name(std::string_view name);
/// Letters, digits and underscores, not starting with a digit.
bool is_identifier(std::string_view name);

/// Names of all functions and reductions, for messages and suggestions.
std::vector<std::string> function_names();

/// The candidate most alike `name` (edit distance at most 2 and below its length), or "".
std::string closest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace detail
}  // namespace postlude

#endif
