#include "expression/node.hpp"

#include <algorithm>
#include <utility>

namespace postlude {
namespace detail {
namespace {

/// A node over `inputs`, checked for depth.
std::shared_ptr<Node> make_inner_node(NodeKind kind, std::vector<NodePointer> inputs,
                                      SourceSpan span, const std::string& text) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->inputs = std::move(inputs);
  node->span = span;
  for (const NodePointer& input : node->inputs)
    node->depth = std::max(node->depth, input->depth + 1);
  if (node->depth > maximum_depth)
    fail_at(
        Status::invalid_argument,
        "the expression is nested more than " + std::to_string(maximum_depth) + " operations deep",
        text, span);
  return node;
}

std::shared_ptr<Node> make_leaf(NodeKind kind, SourceSpan span) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->span = span;
  return node;
}

}  // namespace

NodePointer make_operation(Operation operation, std::vector<NodePointer> inputs, SourceSpan span,
                           const std::string& text) {
  auto node = make_inner_node(NodeKind::pointwise, std::move(inputs), span, text);
  node->operation = operation;
  return node;
}

NodePointer make_reduction(Reduction reduction, NodePointer input, int dim, double parameter,
                           SourceSpan span, const std::string& text) {
  auto node = make_inner_node(NodeKind::reduction, {std::move(input)}, span, text);
  node->reduction = reduction;
  node->dim = dim;
  node->parameter = parameter;
  return node;
}

NodePointer make_window_reduction(Reduction reduction, NodePointer input, const Window& window,
                                  SourceSpan span, const std::string& text) {
  auto node = make_inner_node(NodeKind::reduction, {std::move(input)}, span, text);
  node->reduction = reduction;
  node->dim = 1;
  node->window = window;
  return node;
}

NodePointer make_repeat(NodePointer value, NodePointer like, SourceSpan span,
                        const std::string& text) {
  return make_inner_node(NodeKind::repeat, {std::move(value), std::move(like)}, span, text);
}

NodePointer make_random(NodePointer like, NodePointer seed, SourceSpan span,
                        const std::string& text) {
  return make_inner_node(NodeKind::random, {std::move(like), std::move(seed)}, span, text);
}

NodePointer make_constant(double value, SourceSpan span) {
  auto node = make_leaf(NodeKind::constant, span);
  node->constant = value;
  return node;
}

NodePointer make_operand(const std::string& name, SourceSpan span) {
  auto node = make_leaf(NodeKind::operand, span);
  node->name = name;
  return node;
}

NodePointer make_gemm_result(SourceSpan span) { return make_leaf(NodeKind::gemm_result, span); }

}  // namespace detail
}  // namespace postlude
