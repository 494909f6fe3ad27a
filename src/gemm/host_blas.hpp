#ifndef POSTLUDE_GEMM_HOST_BLAS_HPP
#define POSTLUDE_GEMM_HOST_BLAS_HPP

#include <cstdint>

namespace postlude {
namespace detail {

/// A column-major matrix as an argument of a BLAS, transposed or not.
template <class T>
struct BlasOperand {
  const T* data;
  std::int64_t leading_dimension;
  bool is_transposed;
};

/// Whether the BLAS that Kokkos Kernels was built with computes on the calling thread alone when
/// the threads of an OpenMP parallel region call it. Known of OpenBLAS's OpenMP build; threads of
/// another kind would get in each other's way.
bool may_call_blas_in_parallel();

/// c (rows x columns, column-major) = op(a) op(b), on the calling thread when it is one of a
/// parallel region. Only where may_call_blas_in_parallel().
void blas_gemm(std::int64_t rows, std::int64_t columns, std::int64_t depth,
               const BlasOperand<float>& a, const BlasOperand<float>& b, float* c,
               std::int64_t leading_dimension);
void blas_gemm(std::int64_t rows, std::int64_t columns, std::int64_t depth,
               const BlasOperand<double>& a, const BlasOperand<double>& b, double* c,
               std::int64_t leading_dimension);

}  // namespace detail
}  // namespace postlude

#endif
