#ifndef POSTLUDE_EXPRESSION_HPP
#define POSTLUDE_EXPRESSION_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <postlude/operation_table.hpp>

namespace postlude {

namespace detail {
struct Node;
}

/// How an operand's shape relates to the result y (batch x out_features).
///
/// The values equal those of `postlude_operand_kind` in C. Since: 0.1.
enum class OperandKind : std::int32_t {
  scalar = 1,  ///< one number, passed by value at each execution
  row = 2,     ///< N elements (or 1 x N), the same for every row of y: a bias
  column = 3,  ///< M elements (or M x 1), the same for every column of y
  matrix = 4,  ///< M x N elements: a residual
  element = 5  ///< one number in the memory of the execution space
};

/// A value of the epilogue, written with C++ operators: an immutable, reference-counted expression.
///
/// Values are matrices that broadcast as in NumPy. `postlude::min(y() + row("bias"), 2.0) - 2.0`
/// builds the same program as the text `min(y + bias, 2) - 2`.
///
/// Errors: every builder throws Error(invalid_argument) when the nesting exceeds 1000 operations.
/// Threads: immutable, safe to share. Since: 0.1.
class Expression {
 public:
  /// A constant; implicit, so that numbers mix with expressions.
  Expression(double constant);

  /// For the library's own use.
  explicit Expression(std::shared_ptr<const detail::Node> node) : node_(std::move(node)) {}
  /// For the library's own use.
  const std::shared_ptr<const detail::Node>& node() const noexcept { return node_; }

 private:
  std::shared_ptr<const detail::Node> node_;
};

/// The result of the linear layer, y[m,n] = sum_k x[m,k] * w[n,k]. Since: 0.1.
Expression y();

/// An operand to be bound by name at execution; `name` must be a valid name of the language
/// (letters, digits and underscores, not starting with a digit) and not one it already uses.
/// `is_batched` is as in OperandDeclaration. Errors: Error(invalid_argument). Since: 0.1.
Expression operand(const std::string& name, OperandKind kind, bool is_batched = false);
/// An operand whose kind is that of its declaration in the plan, as for a name in a text. Errors:
/// Error(invalid_argument) for a name as above, Error(unknown_name) at planning when the plan
/// declares no such operand. Since: 0.1.
Expression operand(const std::string& name);
/// An operand of the kind OperandKind::scalar, as operand(). Since: 0.1.
Expression scalar(const std::string& name);
/// An operand of the kind OperandKind::row, as operand(). Since: 0.1.
Expression row(const std::string& name);
/// An operand of the kind OperandKind::column, as operand(). Since: 0.1.
Expression column(const std::string& name);
/// An operand of the kind OperandKind::matrix, as operand(). Since: 0.1.
Expression matrix(const std::string& name);
/// An operand of the kind OperandKind::element, as operand(). Since: 0.1.
Expression element(const std::string& name);

/// An argument of call(); positional when `keyword` is empty. Since: 0.1.
struct CallArgument {
  Expression value;     ///< what is passed
  std::string keyword;  ///< name of the parameter, or ""
};

/// Calls a function of the language, alias or operator ("+", "-", "*", "/", "**", "<", "<=", ">",
/// ">=", "==", "!=") by its name, for programs that generate programs. `call("sum", {{v}, {1,
/// "dim"}})` is the text `sum(v, dim=1)`; "-" of one argument negates.
///
/// Errors: Error(unknown_name) for the function or a keyword, with the closest name,
/// Error(syntax_error) for arguments that the function does not take, Error(invalid_argument) for a
/// number that is out of range. Since: 0.1.
Expression call(const std::string& function, const std::vector<CallArgument>& arguments);

namespace detail {

/// Builds an operation; fills missing trailing arguments with the table's defaults.
Expression apply(Operation operation, std::vector<Expression> arguments);

template <class... Arguments>
using EnableForExpressions = typename std::enable_if<
    (std::is_same<typename std::decay<Arguments>::type, Expression>::value || ...), int>::type;

}  // namespace detail

// One function per line of the table: postlude::relu(v), postlude::clamp(v, low, high), ... At
// least one argument must be an Expression, so that these never compete with the standard library.
// (cmake/Doxyfile.in documents them, and the operators below, from the same table.)
#define POSTLUDE_FUNCTION_DECLARATION(name, arity, signature, formula)          \
  template <class... Arguments, detail::EnableForExpressions<Arguments...> = 0> \
  Expression name(const Arguments&... arguments) {                              \
    return detail::apply(Operation::name, {Expression(arguments)...});          \
  }
POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_FUNCTION_DECLARATION)
#undef POSTLUDE_FUNCTION_DECLARATION

/// -a: the operation `negate` of the table. Since: 0.1.
inline Expression operator-(const Expression& a) { return detail::apply(Operation::negate, {a}); }

#define POSTLUDE_OPERATOR_DECLARATION(symbol, operation)                        \
  inline Expression operator symbol(const Expression& a, const Expression& b) { \
    return detail::apply(Operation::operation, {a, b});                         \
  }
POSTLUDE_OPERATOR_DECLARATION(+, add)
POSTLUDE_OPERATOR_DECLARATION(-, subtract)
POSTLUDE_OPERATOR_DECLARATION(*, multiply)
POSTLUDE_OPERATOR_DECLARATION(/, divide)
POSTLUDE_OPERATOR_DECLARATION(<, less)
POSTLUDE_OPERATOR_DECLARATION(<=, less_equal)
POSTLUDE_OPERATOR_DECLARATION(>, greater)
POSTLUDE_OPERATOR_DECLARATION(>=, greater_equal)
POSTLUDE_OPERATOR_DECLARATION(==, equal)
POSTLUDE_OPERATOR_DECLARATION(!=, not_equal)
#undef POSTLUDE_OPERATOR_DECLARATION

/// a to the power b. Since: 0.1.
inline Expression pow(const Expression& a, const Expression& b) {
  return detail::apply(Operation::power, {a, b});
}

/// Reduces `v` over one dimension, which is kept with size 1.
///
/// `dim` is 0 (over the rows of y, the batch), 1 (over its columns), or -2, -1 counted from the
/// end. `parameter` is the reduction's number (see POSTLUDE_REDUCTIONS), its default when NaN.
/// Errors: Error(invalid_argument) for another dim, Error(shape_mismatch) at planning for a max,
/// min, amax, argmax or argmin over an empty dimension. Since: 0.1.
Expression reduce(Reduction reduction, const Expression& v, int dim);
/// The same with the reduction's number. Since: 0.1.
Expression reduce(Reduction reduction, const Expression& v, int dim, double parameter);

/// What most normalisations take beside the value: `weight` and `bias` are applied after
/// normalising, where they are given; `eps` is added to the variance. Since: 0.1.
struct NormOptions {
  std::optional<Expression> weight;  ///< multiplies the normalised value
  std::optional<Expression> bias;    ///< is added after that
  double eps = 1e-5;                 ///< 0 or more
};

/// exp(v - max) / sum(exp(v - max)) over `dim`, stable for large values.
///
/// A row of -inf, or with +inf, gives NaN, as in PyTorch. Errors: Error(invalid_argument) for a dim
/// other than 0, 1, -1, -2, Error(shape_mismatch) at planning for an empty dimension. Since: 0.1.
Expression softmax(const Expression& v, int dim);
/// The logarithm of softmax(), computed without it. Errors: as softmax(). Since: 0.1.
Expression log_softmax(const Expression& v, int dim);

/// (v - mean) / sqrt(var + eps) * weight + bias of each row, with the biased variance (Ba, Kiros
/// and Hinton, Layer Normalization, 2016). Errors: Error(invalid_argument) for a negative eps.
/// Since: 0.1.
Expression layer_norm(const Expression& v, const NormOptions& options = {});
/// The same as layer_norm(): a row is one instance of one channel. Since: 0.1.
Expression instance_norm(const Expression& v, const NormOptions& options = {});

/// v / sqrt(mean(v**2) + eps) * weight of each row (Zhang and Sennrich, Root Mean Square Layer
/// Normalization, 2019). eps defaults to the distance of floats at 1 for every dtype. Since: 0.1.
Expression rms_norm(const Expression& v, const std::optional<Expression>& weight = std::nullopt,
                    double eps = 1.1920929e-07);

/// layer_norm of each of `groups` equal parts of each row, then weight and bias by column (Wu and
/// He, Group Normalization, 2018). Errors: Error(shape_mismatch) at planning unless groups divides
/// the number of columns. Since: 0.1.
Expression group_norm(const Expression& v, std::int64_t groups, const NormOptions& options = {});

/// (v - mean) / sqrt(var + eps) * weight + bias of each column, with the mean and biased variance
/// of the batch (Ioffe and Szegedy, Batch Normalization, 2015). Since: 0.1.
Expression batch_norm(const Expression& v, const NormOptions& options = {});
/// The same with given mean and variance. Since: 0.1.
Expression batch_norm(const Expression& v, const Expression& mean, const Expression& var,
                      const NormOptions& options = {});

/// v / max(norm(v, dim), eps). Since: 0.1.
Expression l2_normalize(const Expression& v, int dim = 1, double eps = 1e-12);

/// Largest of `kernel` neighbours along dim 1, at every `stride`-th column; a stride of 0 is the
/// kernel. A tail shorter than the kernel is dropped. Errors: Error(shape_mismatch) at planning
/// when the kernel is wider than the value. Since: 0.1.
Expression max_pool(const Expression& v, std::int64_t kernel, std::int64_t stride = 0);
/// Mean of `kernel` neighbours; otherwise as max_pool(). Since: 0.1.
Expression avg_pool(const Expression& v, std::int64_t kernel, std::int64_t stride = 0);

/// v * (u < p ? 0 : 1 / (1 - p)): u is uniform in [0, 1), drawn by Philox 4x32-10 from the seed and
/// the element's index in row-major order, so that a seed gives one mask on every backend, dtype
/// and layout. `seed` is a whole number of magnitude at most 2**53, or a scalar operand that is
/// bound to one; p = 0 is the identity. Errors: Error(invalid_argument) for p outside [0, 1] and
/// for another seed. Since: 0.1.
Expression dropout(const Expression& v, const Expression& p, const Expression& seed);

/// Declares an operand that an expression text names; the order is that of the C interface's
/// bindings.
///
/// In a problem with a batch dimension every matrix of the batch sees the same operand, unless
/// `is_batched`: then it has a leading batch dimension too. A row is bound to a tensor of B x N or
/// B x 1 x N, a column to B x M or B x M x 1, an element to B, B x 1 or B x 1 x 1, a matrix to
/// B x M x N. A scalar is never batched. Since: 0.1.
struct OperandDeclaration {
  std::string name;                     ///< as the text has it
  OperandKind kind = OperandKind::row;  ///< its shape
  bool is_batched = false;              ///< whether each matrix of a batch has its own
};

/// What a plan computes after the linear layer: one or several named results.
///
/// Made from C++ expressions or from text in the epilogue language:
///
///     program    := statement { (";" | newline) statement }
///     statement  := name "=" expression | expression | "return" expression { "," expression }
///     comparison := sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
///     sum        := product { ("+" | "-") product }
///     product    := unary { ("*" | "/") unary }
///     unary      := "-" unary | power
///     power      := primary [ "**" unary ]
///     primary    := number | "inf" | "nan" | name | name "(" arguments ")" | "(" expression ")"
///
/// The last statement is the result. "#" starts a comment. Line ends inside parentheses are
/// ignored. Errors: Error(syntax_error) with line, column and a caret under the fault.
/// Threads: immutable, safe to share. Since: 0.1.
class Epilogue {
 public:
  /// A result and its name.
  struct Result {
    std::string name;  ///< letters, digits and underscores; unlike every other result's
    Expression value;  ///< what is computed
  };

  /// One result, named "result".
  Epilogue(const Expression& value);
  /// Several results. Errors: Error(invalid_argument) for none, for two of one name, and for a name
  /// that is none.
  Epilogue(std::vector<Result> results);
  /// Parses `text`.
  Epilogue(const std::string& text);
  /// Parses `text`, which is NUL-terminated.
  Epilogue(const char* text) : Epilogue(std::string(text)) {}

  /// The results in their order.
  const std::vector<Result>& results() const noexcept { return results_; }
  /// The text it was parsed from, empty when it was built from expressions.
  const std::string& text() const noexcept { return text_; }

 private:
  std::vector<Result> results_;
  std::string text_;
};

}  // namespace postlude

#endif
