#ifndef POSTLUDE_EXPRESSION_NODE_HPP
#define POSTLUDE_EXPRESSION_NODE_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <postlude/expression.hpp>

namespace postlude {
namespace detail {

/// Deepest nesting of operations. Bounds the recursion of everything that walks an expression.
constexpr int maximum_depth = 1000;

enum class NodeKind { gemm_result, operand, constant, pointwise, reduction };

/// Where a node stands in the text of its epilogue; `length` 0 when it was built by C++ operators.
struct SourceSpan {
  std::size_t offset = 0;
  std::size_t length = 0;
};

/// One operation of an expression. Shapes are unknown here: an expression is checked against a
/// problem when it is lowered to a Program.
struct Node {
  NodeKind kind = NodeKind::constant;
  Operation operation = Operation::add;
  Reduction reduction = Reduction::sum;
  int dim = 0;           ///< of a reduction: 0 or 1
  double parameter = 0;  ///< of a reduction: p of norm, correction of var and std
  double constant = 0;
  std::string name;            ///< of an operand
  bool declares_kind = false;  ///< the operand's kind was given where it is used (C++ only)
  OperandKind operand_kind = OperandKind::row;
  std::vector<std::shared_ptr<const Node>> inputs;
  SourceSpan span;
  int depth = 1;
};

using NodePointer = std::shared_ptr<const Node>;

/// Makes a node one deeper than its inputs; throws Error(invalid_argument) beyond maximum_depth,
/// with the place in `text` when there is one.
NodePointer make_operation(Operation operation, std::vector<NodePointer> inputs, SourceSpan span,
                           const std::string& text);
NodePointer make_reduction(Reduction reduction, NodePointer input, int dim, double parameter,
                           SourceSpan span, const std::string& text);
NodePointer make_constant(double value, SourceSpan span);
NodePointer make_operand(const std::string& name, SourceSpan span);
NodePointer make_gemm_result(SourceSpan span);

}  // namespace detail
}  // namespace postlude

#endif
