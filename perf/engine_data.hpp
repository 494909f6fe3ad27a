#ifndef POSTLUDE_PERF_ENGINE_DATA_HPP
#define POSTLUDE_PERF_ENGINE_DATA_HPP

#include <Kokkos_Core.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>

#include <postlude/postlude.hpp>

#include "random_fill.hpp"

namespace postlude {
namespace perf {

// Data for the programs that measure engines on CUDA.

using Space = Kokkos::Cuda;
using FloatMatrix = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::CudaSpace>;
/// float16 or bfloat16, as bits.
using SmallMatrix = Kokkos::View<std::uint16_t**, Kokkos::LayoutRight, Kokkos::CudaSpace>;

/// Normal with variance 1 (Box and Muller, 1958).
KOKKOS_INLINE_FUNCTION double random_normal(std::uint64_t seed, std::int64_t index) {
  // 1 - u is in (0, 1], whose logarithm is finite.
  const double radius = std::sqrt(-2 * std::log(1 - random_uniform(seed, index)));
  return radius * std::cos(6.283185307179586 * random_uniform(seed + 0x5bd1e995, index));
}

template <class Functor>
void for_each(std::int64_t count, const Functor& functor) {
  Kokkos::parallel_for("postlude::perf::for_each",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, count),
                       functor);
}

inline FloatMatrix make_matrix(std::int64_t rows, std::int64_t columns) {
  return FloatMatrix(Kokkos::view_alloc(Kokkos::WithoutInitializing, "matrix"),
                     static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

inline FloatMatrix uniform_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                                  double low, double high) {
  const FloatMatrix matrix = make_matrix(rows, columns);
  for_each(rows * columns, FillUniform{matrix.data(), seed, low, high});
  return matrix;
}

/// Rounds to float16 or bfloat16, and back so that both hold the same numbers.
struct RoundToSmall {
  const float* from;
  std::uint16_t* small;
  float* rounded;
  bool is_bfloat16;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    if (is_bfloat16) {
      const __nv_bfloat16 value = __float2bfloat16_rn(from[i]);
      small[i] = __bfloat16_as_ushort(value);
      rounded[i] = __bfloat162float(value);
    } else {
      const __half value = __float2half_rn(from[i]);
      small[i] = __half_as_ushort(value);
      rounded[i] = __half2float(value);
    }
  }
};

struct Rounded {
  SmallMatrix small;
  FloatMatrix same;  ///< the same numbers in float32
};

inline Rounded round_to(DataType dtype, const FloatMatrix& matrix) {
  Rounded rounded{SmallMatrix("small", matrix.extent(0), matrix.extent(1)),
                  make_matrix(static_cast<std::int64_t>(matrix.extent(0)),
                              static_cast<std::int64_t>(matrix.extent(1)))};
  for_each(static_cast<std::int64_t>(matrix.size()),
           RoundToSmall{matrix.data(), rounded.small.data(), rounded.same.data(),
                        dtype == DataType::bfloat16});
  return rounded;
}

/// A row-major matrix as a tensor.
inline Tensor matrix_tensor(void* data, DataType dtype, std::int64_t rows, std::int64_t columns) {
  Tensor tensor;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.rank = 2;
  tensor.extent[0] = rows;
  tensor.extent[1] = columns;
  tensor.stride[0] = columns;
  tensor.stride[1] = 1;
  tensor.memory_space = MemorySpace::device;
  return tensor;
}

inline Tensor small_tensor(const SmallMatrix& matrix, DataType dtype) {
  return matrix_tensor(matrix.data(), dtype, static_cast<std::int64_t>(matrix.extent(0)),
                       static_cast<std::int64_t>(matrix.extent(1)));
}

}  // namespace perf
}  // namespace postlude

#endif
