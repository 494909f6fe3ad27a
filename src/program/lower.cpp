#include "program/lower.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>

#include <postlude/error.hpp>

#include "expression/composites.hpp"
#include "expression/signature.hpp"
#include "program/value_table.hpp"

namespace postlude {
namespace detail {
namespace {

Shape operand_shape(const OperandDeclaration& declaration, const Shape& y) {
  const std::int64_t batch = declaration.is_batched ? y.batch : 1;
  switch (declaration.kind) {
    case OperandKind::row:
      return {batch, 1, y.columns};
    case OperandKind::column:
      return {batch, y.rows, 1};
    case OperandKind::matrix:
      return {batch, y.rows, y.columns};
    case OperandKind::element:
      return {batch, 1, 1};
    case OperandKind::scalar:
      if (!declaration.is_batched) return {};
      throw Error(Status::invalid_argument,
                  "operand '" + declaration.name +
                      "' is a batched scalar: expected a batched element, since a scalar is one "
                      "number");
  }
  throw Error(Status::invalid_argument, "kind is " +
                                            std::to_string(static_cast<int>(declaration.kind)) +
                                            ": expected an operand kind (1 to 5)");
}

class Lowering {
 public:
  Lowering(const Epilogue& epilogue, const Shape& y, std::int64_t depth,
           const std::vector<OperandDeclaration>& declarations) {
    program_.y = y;
    program_.depth = depth;
    program_.text = epilogue.text();
    for (const OperandDeclaration& declaration : declarations) declare(declaration);
    for (const Epilogue::Result& result : epilogue.results())
      program_.results.push_back({result.name, visit(result.value.node())});
  }

  Program take() { return std::move(program_); }

 private:
  void declare(const OperandDeclaration& declaration) {
    const std::string& name = declaration.name;
    if (!is_identifier(name) || is_reserved_name(name))
      throw Error(Status::invalid_argument,
                  "operand name is '" + name.substr(0, 64) +
                      "': expected letters, digits and underscores, and no name of the language");
    if (!operand_index_.emplace(name, program_.operands.size()).second)
      throw Error(Status::invalid_argument, "operand '" + name + "' is declared twice");
    program_.operands.push_back(
        {name, declaration.kind, declaration.is_batched, operand_shape(declaration, program_.y)});
  }

  int visit(const NodePointer& node) {
    if (const auto seen = visited_.find(node.get()); seen != visited_.end()) return seen->second;
    Value value;
    value.kind = node->kind;
    value.span = node->span;
    for (const NodePointer& input : node->inputs) value.inputs.push_back(visit(input));
    infer(*node, value);
    const int index = shared_.share(program_, std::move(value));
    visited_.emplace(node.get(), index);
    return index;
  }

  void infer(const Node& node, Value& value) {
    std::vector<Shape> shapes;
    for (const int input : value.inputs)
      shapes.push_back(program_.values[static_cast<std::size_t>(input)].shape);
    try {
      switch (node.kind) {
        case NodeKind::gemm_result:
          value.shape = program_.y;
          break;
        case NodeKind::constant:
          value.constant = node.constant;
          break;
        case NodeKind::operand:
          resolve(node, value);
          break;
        case NodeKind::pointwise:
          value.operation = node.operation;
          value.shape = broadcast(shapes);
          break;
        case NodeKind::reduction:
          value.reduction = node.reduction;
          value.dim = node.dim;
          value.parameter = node.parameter;
          if (node.window.is_whole())
            value.shape = reduced_shape(node.reduction, shapes[0], node.dim);
          else
            resolve_window(node.window, shapes[0], value);
          if ((node.reduction == Reduction::var || node.reduction == Reduction::std) &&
              !std::isfinite(node.parameter))
            throw Error(Status::invalid_argument,
                        "correction of " + signature_of(node.reduction).name + " must be finite");
          if (node.reduction == Reduction::norm && !(node.parameter > 0))
            throw Error(Status::invalid_argument, "p of norm must be positive");
          break;
        case NodeKind::repeat:
          if (shapes[0].columns == 0 || shapes[1].columns % shapes[0].columns != 0)
            throw Error(Status::internal_error, "a repeat does not fit");
          value.factor = shapes[1].columns / shapes[0].columns;
          value.shape = {shapes[0].batch, shapes[0].rows, shapes[1].columns};
          value.inputs.resize(1);
          break;
        case NodeKind::random: {
          const Value& seed = program_.values[static_cast<std::size_t>(value.inputs[1])];
          const bool is_scalar = seed.kind == NodeKind::constant ||
                                 (seed.kind == NodeKind::operand &&
                                  program_.operands[static_cast<std::size_t>(seed.operand)].kind ==
                                      OperandKind::scalar);
          if (!is_scalar)
            throw Error(Status::invalid_argument, "seed must be a number or a scalar operand");
          if (seed.kind == NodeKind::operand)
            program_.operands[static_cast<std::size_t>(seed.operand)].is_seed = true;
          value.shape = shapes[0];
          value.inputs.erase(value.inputs.begin());
          break;
        }
        case NodeKind::gemm_factors:
          throw Error(Status::internal_error, "an expression names the factors of an engine");
        case NodeKind::expand:
          throw Error(Status::internal_error, "an expression has an expansion");
      }
    } catch (const Error& error) {
      // Only shape and parameter errors come without a place.
      if (std::strchr(error.what(), '\n') != nullptr) throw;
      fail_at(error.status(), error.what(), program_.text, node.span);
    }
  }

  static void resolve_window(const Window& window, const Shape& shape, Value& value) {
    const std::string columns = std::to_string(shape.columns);
    if (window.groups > 0) {
      if (shape.columns == 0 || shape.columns % window.groups != 0)
        throw Error(Status::shape_mismatch, "groups is " + std::to_string(window.groups) +
                                                ": expected a divisor of the number of columns, " +
                                                columns);
      value.window_size = value.window_step = shape.columns / window.groups;
    } else {
      if (window.size > shape.columns)
        throw Error(Status::shape_mismatch, "kernel is " + std::to_string(window.size) +
                                                ": expected at most the number of columns, " +
                                                columns);
      value.window_size = window.size;
      value.window_step = window.step;
    }
    value.shape = windowed_shape(shape, value.window_size, value.window_step);
  }

  void resolve(const Node& node, Value& value) {
    if (operand_index_.find(node.name) == operand_index_.end()) {
      if (!node.declares_kind) {
        std::vector<std::string> names;
        for (const auto& entry : operand_index_) names.push_back(entry.first);
        const std::string guess = closest_name(node.name, names);
        fail_at(Status::unknown_name,
                "'" + node.name.substr(0, 64) +
                    "' is neither a name of the language nor a declared operand" +
                    (guess.empty() ? "" : "; did you mean '" + guess + "'?"),
                program_.text, node.span);
      }
      declare({node.name, node.operand_kind, node.operand_is_batched});
    }
    const std::size_t index = operand_index_.at(node.name);
    ProgramOperand& operand = program_.operands[index];
    if (node.declares_kind &&
        (operand.kind != node.operand_kind || operand.is_batched != node.operand_is_batched))
      throw Error(Status::invalid_argument,
                  "operand '" + node.name + "' is declared with two kinds");
    operand.is_used = true;
    value.operand = static_cast<int>(index);
    value.shape = operand.shape;
  }

  Program program_;
  std::map<std::string, std::size_t> operand_index_;
  std::unordered_map<const Node*, int> visited_;
  ValueTable shared_;
};

}  // namespace

Program lower(const Epilogue& epilogue, const Shape& y, std::int64_t depth,
              const std::vector<OperandDeclaration>& declarations) {
  Program program = Lowering(epilogue, y, depth, declarations).take();
  verify(program);
  return program;
}

}  // namespace detail
}  // namespace postlude
