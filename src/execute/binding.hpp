#ifndef POSTLUDE_EXECUTE_BINDING_HPP
#define POSTLUDE_EXECUTE_BINDING_HPP

#include <vector>

#include <postlude/plan.hpp>

#include "plan/gemm_problem.hpp"
#include "plan/planner.hpp"

namespace postlude {
namespace detail {

/// Strides of a tensor as a batch of matrices. A tensor of rank 1 lies along the columns when
/// `is_row`, else along the rows.
MatrixStrides strides_of(const Tensor& tensor, bool is_row);

/// Extents of a tensor as a batch of matrices, by the same rule.
Shape shape_of(const Tensor& tensor, bool is_row);

/// A rank 1 tensor stands for a row unless the wanted shape is a column.
inline bool lies_along_columns(const Shape& wanted) {
  return wanted.columns != 1 || wanted.rows == 1;
}

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
