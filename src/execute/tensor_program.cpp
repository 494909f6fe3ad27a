#include "execute/tensor_program.hpp"

#include <utility>

#include "execute/binding.hpp"
#include "execute/contiguous_tensor.hpp"
#include "execute/enqueue_stages.hpp"
#include "execute/memory.hpp"
#include "program/lower.hpp"

namespace postlude {
namespace detail {
namespace {

/// The layout in which the last two dimensions of a tensor are contiguous.
ResultLayout layout_of(const Tensor& tensor) {
  if (tensor.rank < 2) return ResultLayout::row_major;
  const bool by_columns =
      tensor.stride[tensor.rank - 2] == 1 && tensor.stride[tensor.rank - 1] != 1;
  return by_columns ? ResultLayout::column_major : ResultLayout::row_major;
}

}  // namespace

Tensor float64_tensor(Backend backend, double* data, const Shape& shape) {
  Tensor tensor = contiguous_tensor(data, DataType::float64, shape);
  tensor.memory_space =
      is_reachable(backend, MemorySpace::host) ? MemorySpace::host : MemorySpace::device;
  return tensor;
}

TensorProgram::TensorProgram(Backend backend, DataType dtype, const char* text, const Shape& domain,
                             bool v_is_batched, const Tensor& v,
                             const std::vector<OperandDeclaration>& operands) {
  std::vector<OperandDeclaration> declarations = {{"v", OperandKind::matrix, v_is_batched}};
  declarations.insert(declarations.end(), operands.begin(), operands.end());
  GemmProblem gemm;
  gemm.backend = backend;
  gemm.dtype = dtype;
  plan_ = make_execution_plan(lower(Epilogue(text), domain, 1, declarations), gemm, layout_of(v));
}

void TensorProgram::run(const ExecutionSpace& space, const std::vector<Tensor>& values,
                        const std::vector<double*>& results, char* workspace) const {
  std::vector<Binding> bindings;
  for (const Tensor& value : values) bindings.emplace_back("", value);
  std::vector<const Binding*> matched;
  for (const Binding& binding : bindings) matched.push_back(&binding);
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const int value = plan_.program.results[i].value;
    outputs.push_back(float64_tensor(space.backend(), results[i],
                                     plan_.program.values[static_cast<std::size_t>(value)].shape));
  }
  BoundMemory memory;
  memory.workspace = workspace;
  enqueue_stages(space, plan_, memory, matched, outputs);
}

TensorProgram largest_magnitude(Backend backend, DataType dtype, const Shape& shape,
                                bool is_batched, const Tensor& tensor) {
  return TensorProgram(backend, dtype, "amax(amax(v, dim=1), dim=0)", shape, is_batched, tensor);
}

}  // namespace detail
}  // namespace postlude
