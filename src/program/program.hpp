#ifndef POSTLUDE_PROGRAM_PROGRAM_HPP
#define POSTLUDE_PROGRAM_PROGRAM_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <postlude/expression.hpp>

#include "expression/node.hpp"

namespace postlude {
namespace detail {

/// Extents of a value; an extent of 1 broadcasts. The batch extent is 1 outside batched problems.
struct Shape {
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  bool operator==(const Shape& other) const {
    return batch == other.batch && rows == other.rows && columns == other.columns;
  }
  bool operator!=(const Shape& other) const { return !(*this == other); }
  std::int64_t elements() const { return batch * rows * columns; }
};

/// "128x64", or "8x128x64" for a batch.
std::string to_string(const Shape& shape);

/// One value of a program in static single assignment form.
struct Value {
  NodeKind kind = NodeKind::constant;
  Operation operation = Operation::add;
  Reduction reduction = Reduction::sum;
  int dim = 0;
  double parameter = 0;
  double constant = 0;
  std::int64_t window_size = 0;  ///< of a reduction over a part of dim 1; 0: over all of it
  std::int64_t window_step = 0;
  std::int64_t factor = 1;  ///< of a repeat
  int operand = -1;         ///< index in Program::operands
  std::vector<int> inputs;  ///< indices of earlier values
  Shape shape;
  SourceSpan span;

  /// The result is an index, stored as int64.
  bool is_index() const {
    return kind == NodeKind::reduction &&
           (reduction == Reduction::argmax || reduction == Reduction::argmin);
  }
};

struct ProgramOperand {
  std::string name;
  OperandKind kind = OperandKind::row;
  bool is_batched = false;  ///< its tensor has a leading batch dimension
  Shape shape;
  bool is_used = false;
  bool is_seed = false;  ///< a scalar that is_valid_seed() must accept
};

struct ProgramResult {
  std::string name;
  int value = -1;
};

/// What an epilogue computes for one problem: values in an order in which every value comes after
/// its inputs, each distinct value once.
struct Program {
  Shape y;                 ///< batch x M x N
  std::int64_t depth = 0;  ///< K, the length of each of y's dot products
  std::vector<Value> values;
  std::vector<ProgramOperand> operands;
  std::vector<ProgramResult> results;
  std::string text;  ///< source text for messages, may be empty

  bool uses_y() const;
};

/// The program as text, one value a line: "%3 = min(%2, %1)  : 128x64".
std::string to_string(const Program& program);

/// Throws Error(internal_error) unless every value has the inputs and the shape that its operation
/// asks for and comes after its inputs.
void verify(const Program& program);

/// Shape of a pointwise operation on these; throws Error(shape_mismatch) where they do not
/// broadcast.
Shape broadcast(const std::vector<Shape>& shapes);
/// Shape of a reduction over windows of `size` columns at every `step`-th.
Shape windowed_shape(const Shape& shape, std::int64_t size, std::int64_t step);
/// Shape of a reduction; throws Error(shape_mismatch) for a max, min, amax, argmax or argmin over
/// an empty dimension.
Shape reduced_shape(Reduction reduction, const Shape& shape, int dim);

}  // namespace detail
}  // namespace postlude

#endif
