#ifndef POSTLUDE_EXECUTE_BINDING_HPP
#define POSTLUDE_EXECUTE_BINDING_HPP

#include <vector>

#include <postlude/plan.hpp>

#include "plan/gemm_problem.hpp"
#include "plan/planner.hpp"

namespace postlude {
namespace detail {

/// How the dimensions of a tensor of rank 1 or 2 are read as those of a batch of matrices; with
/// rank 3 they are batch, rows, columns.
struct DimensionReading {
  /// A vector lies along the columns, so that it is a row, else along the rows.
  bool is_row = true;
  /// The first dimension is the batch: rank 2 is a batch of vectors, rank 1 one of single elements.
  /// Otherwise rank 2 is a matrix, and rank 1 a vector.
  bool is_batched = false;
};

/// A vector stands for a row unless the wanted shape is a column.
inline DimensionReading reading_as(const Shape& wanted, bool is_batched = false) {
  return {wanted.columns != 1 || wanted.rows == 1, is_batched};
}

/// Strides of a tensor as a batch of matrices.
MatrixStrides strides_of(const Tensor& tensor, const DimensionReading& reading);

/// Extents of a tensor as a batch of matrices.
Shape shape_of(const Tensor& tensor, const DimensionReading& reading);

/// The binding of each operand of the program, null where an unused operand has none.
/// Throws Error(unknown_name, invalid_argument, missing_operand).
std::vector<const Binding*> match_bindings(const Program& program,
                                           const std::vector<Binding>& bindings);

/// Addresses of one execution.
struct BoundMemory {
  void* y = nullptr;
  MatrixStrides y_strides;
  char* workspace = nullptr;
};

/// The stage with every address, stride and scalar filled in.
Stage bind_stage(const ExecutionPlan& plan, const PlannedStage& planned, const BoundMemory& memory,
                 const std::vector<const Binding*>& bindings, const std::vector<Tensor>& outputs);

}  // namespace detail
}  // namespace postlude

#endif
