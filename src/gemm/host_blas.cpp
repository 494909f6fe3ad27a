#include "gemm/host_blas.hpp"

#include "compat/host_blas.hpp"

#ifdef POSTLUDE_HAS_HOST_BLAS
// Of OpenBLAS; null with another BLAS.
extern "C" int openblas_get_parallel() __attribute__((weak));
#endif

namespace postlude {
namespace detail {
namespace {

template <class T>
void call(std::int64_t rows, std::int64_t columns, std::int64_t depth, const BlasOperand<T>& a,
          const BlasOperand<T>& b, T* c, std::int64_t leading_dimension) {
#ifdef POSTLUDE_HAS_HOST_BLAS
  compat::host_gemm<T>(a.is_transposed ? 'T' : 'N', b.is_transposed ? 'T' : 'N',
                       static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(depth),
                       a.data, static_cast<int>(a.leading_dimension), b.data,
                       static_cast<int>(b.leading_dimension), c,
                       static_cast<int>(leading_dimension));
#else
  (void)rows, (void)columns, (void)depth, (void)a, (void)b, (void)c, (void)leading_dimension;
#endif
}

}  // namespace

bool may_call_blas_in_parallel() {
#ifdef POSTLUDE_HAS_HOST_BLAS
  constexpr int of_openmp = 2;
  return openblas_get_parallel != nullptr && openblas_get_parallel() == of_openmp;
#else
  return false;
#endif
}

void blas_gemm(std::int64_t rows, std::int64_t columns, std::int64_t depth,
               const BlasOperand<float>& a, const BlasOperand<float>& b, float* c,
               std::int64_t leading_dimension) {
  call(rows, columns, depth, a, b, c, leading_dimension);
}

void blas_gemm(std::int64_t rows, std::int64_t columns, std::int64_t depth,
               const BlasOperand<double>& a, const BlasOperand<double>& b, double* c,
               std::int64_t leading_dimension) {
  call(rows, columns, depth, a, b, c, leading_dimension);
}

}  // namespace detail
}  // namespace postlude
