#ifndef POSTLUDE_EXPRESSION_NODE_HPP
#define POSTLUDE_EXPRESSION_NODE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <postlude/expression.hpp>

#include "expression/source_text.hpp"

namespace postlude {
namespace detail {

/// Deepest nesting of operations. Bounds the recursion of everything that walks an expression.
constexpr int maximum_depth = 1000;

enum class NodeKind {
  gemm_result,
  operand,
  constant,
  pointwise,
  reduction,
  repeat,        ///< input 0 with each column repeated until it has as many columns as input 1
  random,        ///< uniform in [0, 1), of the shape of input 0, from the seed input 1
  gemm_factors,  ///< by which an engine's product is to be multiplied, for rows (dim 0) or columns
  expand         ///< input 0, broadcast to a larger shape; only in programs that were rewritten
};

/// The part of dim 1 that one element of a reduction takes: all of it, one of `groups` equal parts,
/// or `size` columns at every `step`-th.
struct Window {
  std::int64_t groups = 0;
  std::int64_t size = 0;
  std::int64_t step = 0;
  bool is_whole() const { return groups == 0 && size == 0; }
};

/// One operation of an expression. Shapes are unknown here: an expression is checked against a
/// problem when it is lowered to a Program.
struct Node {
  NodeKind kind = NodeKind::constant;
  Operation operation = Operation::add;
  Reduction reduction = Reduction::sum;
  int dim = 0;           ///< of a reduction: 0 or 1
  double parameter = 0;  ///< of a reduction: p of norm, correction of var and std
  Window window;         ///< of a reduction over dim 1
  double constant = 0;
  std::string name;            ///< of an operand
  bool declares_kind = false;  ///< the operand's kind was given where it is used (C++ only)
  OperandKind operand_kind = OperandKind::row;
  bool operand_is_batched = false;
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
NodePointer make_window_reduction(Reduction reduction, NodePointer input, const Window& window,
                                  SourceSpan span, const std::string& text);
NodePointer make_repeat(NodePointer value, NodePointer like, SourceSpan span,
                        const std::string& text);
NodePointer make_random(NodePointer like, NodePointer seed, SourceSpan span,
                        const std::string& text);
NodePointer make_constant(double value, SourceSpan span);
NodePointer make_operand(const std::string& name, SourceSpan span);
NodePointer make_gemm_result(SourceSpan span);

}  // namespace detail
}  // namespace postlude

#endif
