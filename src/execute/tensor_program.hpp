#ifndef POSTLUDE_EXECUTE_TENSOR_PROGRAM_HPP
#define POSTLUDE_EXECUTE_TENSOR_PROGRAM_HPP

#include <cstddef>
#include <vector>

#include <postlude/execution_space.hpp>
#include <postlude/plan.hpp>

#include "plan/planner.hpp"

namespace postlude {
namespace detail {

/// A small program on tensors alone, for what is asked of x, w and operands: their largest
/// magnitude, their sums. Its first operand is `v`, of the shape of the domain.
class TensorProgram {
 public:
  /// `text` over `domain`, of which an operand is declared by each of `operands` behind v.
  /// `v_is_batched` says that v has a leading batch dimension. The arithmetic is that of `dtype`.
  TensorProgram(Backend backend, DataType dtype, const char* text, const Shape& domain,
                bool v_is_batched, const Tensor& v,
                const std::vector<OperandDeclaration>& operands = {});

  std::size_t workspace_bytes() const { return plan_.workspace_bytes; }

  /// Enqueues it. `values` are v and the other operands; results are float64, contiguous, each at
  /// one of `results`.
  void run(const ExecutionSpace& space, const std::vector<Tensor>& values,
           const std::vector<double*>& results, char* workspace) const;

 private:
  ExecutionPlan plan_;
};

/// The largest magnitude of each matrix of a batch: `amax`, which keeps NaN.
TensorProgram largest_magnitude(Backend backend, DataType dtype, const Shape& shape,
                                bool is_batched, const Tensor& tensor);

/// float64 elements in a row, as a batch of matrices.
Tensor float64_tensor(Backend backend, double* data, const Shape& shape);

}  // namespace detail
}  // namespace postlude

#endif
