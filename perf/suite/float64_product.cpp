#include "float64_product.hpp"

#include <Kokkos_Core.hpp>

#include <stdexcept>

#ifdef KOKKOS_ENABLE_CUDA
#include <cublas_v2.h>

#include "evaluator/small_floats.hpp"
#endif

namespace postlude {
namespace perf {

#ifdef KOKKOS_ENABLE_CUDA
namespace {

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::CudaSpace>;

template <class Element>
POSTLUDE_FUNCTION double load(const void* data, std::int64_t i) {
  return detail::Convert<double, Element>::from(static_cast<const Element*>(data)[i]);
}

struct ToFloat64 {
  const void* from;
  DataType dtype;
  double* to;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    switch (dtype) {
      case DataType::float64:
        to[i] = load<double>(from, i);
        return;
      case DataType::float32:
        to[i] = load<float>(from, i);
        return;
      case DataType::float16:
        to[i] = load<detail::Float16>(from, i);
        return;
      case DataType::bfloat16:
        to[i] = load<detail::BFloat16>(from, i);
        return;
      case DataType::int64:
        return;  // no input has such elements
    }
  }
};

Matrix make_matrix(std::int64_t rows, std::int64_t columns) {
  return Matrix(Kokkos::view_alloc(Kokkos::WithoutInitializing, "float64"),
                static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

Matrix to_float64(const Kokkos::Cuda& instance, const Tensor& matrix) {
  const Matrix result = make_matrix(matrix.extent[0], matrix.extent[1]);
  Kokkos::parallel_for("postlude::perf::to_float64",
                       Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>(
                           instance, 0, matrix.extent[0] * matrix.extent[1]),
                       ToFloat64{matrix.data, matrix.dtype, result.data()});
  return result;
}

/// cuBLAS's, not Kokkos Kernels': its header alone takes nvcc a minute.
void multiply(const Kokkos::Cuda& instance, const Matrix& x, const Matrix& w, const Matrix& y) {
  const auto extent = [](std::size_t value) { return static_cast<int>(value); };
  const int m = extent(x.extent(0)), n = extent(w.extent(0)), k = extent(x.extent(1));
  const double one = 1, zero = 0;
  cublasHandle_t handle = nullptr;
  // In column-major terms y^T = w x^T.
  const bool is_done = cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS &&
                       cublasSetStream(handle, instance.cuda_stream()) == CUBLAS_STATUS_SUCCESS &&
                       cublasDgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, w.data(), k,
                                   x.data(), k, &zero, y.data(), n) == CUBLAS_STATUS_SUCCESS;
  instance.fence();
  cublasDestroy(handle);
  if (!is_done) throw std::runtime_error("cuBLAS's float64 product failed");
}

}  // namespace
#endif

detail::reference::Array cuda_float64_product(const ExecutionSpace& space, const Tensor& x,
                                              const Tensor& w) {
#ifdef KOKKOS_ENABLE_CUDA
  const Kokkos::Cuda& instance = space.get<Kokkos::Cuda>();
  const Matrix y = make_matrix(x.extent[0], w.extent[0]);
  multiply(instance, to_float64(instance, x), to_float64(instance, w), y);
  detail::reference::Array result(detail::Shape{1, x.extent[0], w.extent[0]});
  Kokkos::deep_copy(
      Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
          result.values.data(), y.extent(0), y.extent(1)),
      y);
  return result;
#else
  (void)space, (void)x, (void)w;
  throw std::logic_error("this build has no CUDA");
#endif
}

}  // namespace perf
}  // namespace postlude
