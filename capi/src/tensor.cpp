#include <postlude.h>

#include <postlude/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "convert.hpp"
#include "guard.hpp"
#include "structs.hpp"

namespace {

using namespace postlude::detail::capi;

postlude_tensor described(void* data, postlude_dtype dtype, postlude_memory_space space) {
  to_data_type(dtype, "dtype");
  to_memory_space(space, "space");
  postlude_tensor tensor = POSTLUDE_TENSOR_INIT;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.memory_space = space;
  return tensor;
}

/// True when the addresses of all elements can be counted in bytes with a signed 64-bit number.
bool is_addressable(std::int64_t rows, std::int64_t columns, postlude_dtype dtype) {
  const auto element_size =
      static_cast<std::int64_t>(size_of(static_cast<postlude::DataType>(dtype)));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / element_size;
  return columns == 0 || rows <= most / columns;
}

[[noreturn]] void fail_size(const std::string& extents) {
  throw postlude::Error(postlude::Status::invalid_argument,
                        extents + ": expected a tensor of less than 2^63 bytes");
}

}  // namespace

postlude_status postlude_tensor_matrix(postlude_tensor* tensor, void* data, postlude_dtype dtype,
                                       int64_t rows, int64_t columns, postlude_layout layout,
                                       postlude_memory_space space) {
  return guard([&] {
    require_pointer(tensor, "tensor", "the tensor to fill");
    postlude_tensor matrix = described(data, dtype, space);
    require_extent(rows, "rows");
    require_extent(columns, "columns");
    if (!is_addressable(rows, columns, dtype))
      fail_size("rows is " + std::to_string(rows) + " and columns is " + std::to_string(columns));
    const bool row_major = to_matrix_layout(layout, "layout") == postlude::ResultLayout::row_major;
    matrix.rank = 2;
    matrix.extent[0] = rows;
    matrix.extent[1] = columns;
    // An empty matrix has strides too: none of them may be 0, which would mean broadcasting.
    matrix.stride[0] = row_major ? std::max<int64_t>(columns, 1) : 1;
    matrix.stride[1] = row_major ? 1 : std::max<int64_t>(rows, 1);
    *tensor = matrix;
  });
}

postlude_status postlude_tensor_vector(postlude_tensor* tensor, void* data, postlude_dtype dtype,
                                       int64_t elements, postlude_memory_space space) {
  return guard([&] {
    require_pointer(tensor, "tensor", "the tensor to fill");
    postlude_tensor vector = described(data, dtype, space);
    require_extent(elements, "elements");
    if (!is_addressable(elements, 1, dtype)) fail_size("elements is " + std::to_string(elements));
    vector.rank = 1;
    vector.extent[0] = elements;
    vector.extent[1] = 1;
    vector.stride[0] = 1;
    vector.stride[1] = 1;
    *tensor = vector;
  });
}
