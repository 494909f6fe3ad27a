#ifndef POSTLUDE_TENSOR_HPP
#define POSTLUDE_TENSOR_HPP

#include <cstdint>

#include <postlude/data_type.hpp>

namespace postlude {

/// Where a tensor's elements live. The values equal those of `postlude_memory_space` in C.
///
/// Since: 0.1.
enum class MemorySpace : std::int32_t {
  host = 1,    ///< ordinary host memory, pinned host memory included
  device = 2,  ///< memory of the accelerator of the execution space (CUDA, HIP or SYCL)
  shared = 3   ///< memory that both can reach (CUDA managed memory)
};

/// A non-owning description of a strided tensor of rank 1, 2 or 3.
///
/// Element (i0, i1, i2) is at `data + i0*stride[0] + i1*stride[1] + i2*stride[2]`, strides counted
/// in elements. A rank 3 tensor is a batch of matrices (batch, rows, columns). Strides may be zero
/// or negative for inputs; outputs must not map two indices to one address.
///
/// Ownership: the caller keeps the memory alive until the work that uses it has finished on the
/// execution space. Since: 0.1. The fields follow DLPack's DLTensor.
struct Tensor {
  void* data = nullptr;                          ///< element (0, 0, 0)
  DataType dtype = DataType::float32;            ///< of the elements
  std::int32_t rank = 2;                         ///< number of dimensions
  std::int64_t extent[3] = {0, 0, 1};            ///< sizes; those beyond the rank do not count
  std::int64_t stride[3] = {0, 0, 1};            ///< distances in elements, as extent
  MemorySpace memory_space = MemorySpace::host;  ///< where `data` points
};

}  // namespace postlude

#endif
