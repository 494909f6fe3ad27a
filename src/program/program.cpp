#include "program/program.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <postlude/error.hpp>

#include "expression/number_text.hpp"
#include "expression/signature.hpp"

namespace postlude {
namespace detail {
namespace {

std::string value_text(const Program& program, const Value& value) {
  const auto inputs = [&] {
    std::string text;
    for (std::size_t i = 0; i < value.inputs.size(); ++i)
      text += (i == 0 ? "%" : ", %") + std::to_string(value.inputs[i]);
    return text;
  };
  switch (value.kind) {
    case NodeKind::gemm_result:
      return "y = x w^T";
    case NodeKind::constant:
      return number_text(value.constant);
    case NodeKind::operand:
      return program.operands[static_cast<std::size_t>(value.operand)].name;
    case NodeKind::pointwise:
      return signature_of(value.operation).name + "(" + inputs() + ")";
    case NodeKind::reduction: {
      const ReductionSignature& signature = signature_of(value.reduction);
      std::string text = signature.name + "(" + inputs() + ", dim=" + std::to_string(value.dim);
      if (!signature.parameter.empty())
        text += ", " + signature.parameter + "=" + number_text(value.parameter);
      if (value.window_size > 0)
        text += ", window=" + std::to_string(value.window_size) +
                ", step=" + std::to_string(value.window_step);
      return text + ")";
    }
    case NodeKind::repeat:
      return "repeat(" + inputs() + ", " + std::to_string(value.factor) + ")";
    case NodeKind::random:
      return "random(seed=" + inputs() + ")";
    case NodeKind::gemm_factors:
      return std::string("the engine's factors of ") + (value.dim == 0 ? "rows" : "columns");
    case NodeKind::expand:
      return "expand(" + inputs() + ")";
  }
  return "?";
}

void require(bool condition, const std::string& what) {
  if (!condition) throw Error(Status::internal_error, "the program is malformed: " + what);
}

/// The extent that two extents broadcast to, -1 when they do not.
std::int64_t broadcast_extent(std::int64_t a, std::int64_t b) {
  if (a == b || b == 1) return a;
  return a == 1 ? b : -1;
}

}  // namespace

std::string to_string(const Shape& shape) {
  const std::string matrix = std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
  return shape.batch == 1 ? matrix : std::to_string(shape.batch) + "x" + matrix;
}

bool Program::uses_y() const {
  return std::any_of(values.begin(), values.end(),
                     [](const Value& value) { return value.kind == NodeKind::gemm_result; });
}

std::string to_string(const Program& program) {
  std::string text;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const Value& value = program.values[i];
    std::string line = "%" + std::to_string(i) + " = " + value_text(program, value);
    line.resize(std::max<std::size_t>(line.size() + 2, 40), ' ');
    text += line + ": " + to_string(value.shape) + "\n";
  }
  text += "return";
  for (std::size_t i = 0; i < program.results.size(); ++i)
    text += (i == 0 ? " " : ", ") + program.results[i].name + " = %" +
            std::to_string(program.results[i].value);
  return text + "\n";
}

Shape broadcast(const std::vector<Shape>& shapes) {
  Shape result;
  for (const Shape& shape : shapes) {
    const Shape joined{broadcast_extent(result.batch, shape.batch),
                       broadcast_extent(result.rows, shape.rows),
                       broadcast_extent(result.columns, shape.columns)};
    if (joined.batch < 0 || joined.rows < 0 || joined.columns < 0)
      throw Error(Status::shape_mismatch,
                  "shapes " + to_string(result) + " and " + to_string(shape) + " do not broadcast");
    result = joined;
  }
  return result;
}

Shape windowed_shape(const Shape& shape, std::int64_t size, std::int64_t step) {
  Shape result = shape;
  result.columns = (shape.columns - size) / step + 1;
  return result;
}

Shape reduced_shape(Reduction reduction, const Shape& shape, int dim) {
  Shape result = shape;
  std::int64_t& extent = dim == 0 ? result.rows : result.columns;
  const bool needs_element = reduction == Reduction::max || reduction == Reduction::min ||
                             reduction == Reduction::amax || reduction == Reduction::argmax ||
                             reduction == Reduction::argmin;
  if (needs_element && extent == 0)
    throw Error(Status::shape_mismatch,
                "'" + signature_of(reduction).name + "' over dim=" + std::to_string(dim) +
                    " of a value of shape " + to_string(shape) + ": the dimension is empty");
  extent = 1;
  return result;
}

void verify(const Program& program) {
  const int count = static_cast<int>(program.values.size());
  for (int i = 0; i < count; ++i) {
    const Value& value = program.values[static_cast<std::size_t>(i)];
    std::vector<Shape> shapes;
    for (const int input : value.inputs) {
      require(input >= 0 && input < i, "a value is used before it is defined");
      shapes.push_back(program.values[static_cast<std::size_t>(input)].shape);
    }
    switch (value.kind) {
      case NodeKind::gemm_result:
        require(shapes.empty() && value.shape == program.y, "y has another shape than x w^T");
        break;
      case NodeKind::constant:
        require(shapes.empty() && value.shape == Shape(), "a constant is not a scalar");
        break;
      case NodeKind::operand:
        require(value.operand >= 0 && value.operand < static_cast<int>(program.operands.size()),
                "an operand does not exist");
        require(value.shape == program.operands[static_cast<std::size_t>(value.operand)].shape,
                "an operand has another shape than was declared");
        break;
      case NodeKind::pointwise:
        require(static_cast<int>(shapes.size()) == signature_of(value.operation).arity,
                "an operation has the wrong number of inputs");
        require(value.shape == broadcast(shapes), "an operation has the wrong shape");
        break;
      case NodeKind::reduction:
        require(shapes.size() == 1 && (value.dim == 0 || value.dim == 1),
                "a reduction is malformed");
        require(
            value.shape == (value.window_size == 0
                                ? reduced_shape(value.reduction, shapes[0], value.dim)
                                : windowed_shape(shapes[0], value.window_size, value.window_step)),
            "a reduction has the wrong shape");
        break;
      case NodeKind::repeat:
        require(shapes.size() == 1 && value.factor > 0 &&
                    value.shape ==
                        Shape{shapes[0].batch, shapes[0].rows, shapes[0].columns * value.factor},
                "a repeat has the wrong shape");
        break;
      case NodeKind::random:
        require(shapes.size() == 1 && shapes[0] == Shape(), "a random value has no seed");
        break;
      case NodeKind::gemm_factors:
        require(shapes.empty() &&
                    value.shape == (value.dim == 0 ? Shape{program.y.batch, program.y.rows, 1}
                                                   : Shape{program.y.batch, 1, program.y.columns}),
                "factors of the product have the wrong shape");
        break;
      case NodeKind::expand:
        require(shapes.size() == 1 && broadcast({shapes[0], value.shape}) == value.shape,
                "an expansion has the wrong shape");
        break;
    }
  }
  require(!program.results.empty(), "it has no result");
  for (const ProgramResult& result : program.results)
    require(result.value >= 0 && result.value < count, "a result does not exist");
}

}  // namespace detail
}  // namespace postlude
