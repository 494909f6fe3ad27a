#ifndef POSTLUDE_EXECUTE_CONTIGUOUS_TENSOR_HPP
#define POSTLUDE_EXECUTE_CONTIGUOUS_TENSOR_HPP

#include <postlude/tensor.hpp>

#include "program/program.hpp"

namespace postlude {
namespace detail {

/// A batch of matrices without gaps, row-major or column-major.
inline Tensor contiguous_tensor(void* data, DataType dtype, const Shape& shape,
                                bool by_columns = false) {
  Tensor tensor;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.rank = 3;
  tensor.extent[0] = shape.batch;
  tensor.extent[1] = shape.rows;
  tensor.extent[2] = shape.columns;
  tensor.stride[0] = shape.rows * shape.columns;
  tensor.stride[1] = by_columns ? 1 : shape.columns;
  tensor.stride[2] = by_columns ? shape.rows : 1;
  return tensor;
}

}  // namespace detail
}  // namespace postlude

#endif
