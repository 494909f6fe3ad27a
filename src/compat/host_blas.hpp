#ifndef POSTLUDE_COMPAT_HOST_BLAS_HPP
#define POSTLUDE_COMPAT_HOST_BLAS_HPP

#include <KokkosKernels_config.h>
#ifdef KOKKOSKERNELS_ENABLE_TPL_BLAS
#include <KokkosBlas_Host_tpl.hpp>
#define POSTLUDE_HAS_HOST_BLAS

namespace postlude {
namespace detail {
namespace compat {

/// c = op(a) op(b) by the BLAS that Kokkos Kernels was built with, without Kokkos; column-major.
template <class T>
void host_gemm(char transpose_a, char transpose_b, int rows, int columns, int depth, const T* a,
               int leading_dimension_a, const T* b, int leading_dimension_b, T* c,
               int leading_dimension_c) {
  KokkosBlas::Impl::HostBlas<T>::gemm(transpose_a, transpose_b, rows, columns, depth, T(1), a,
                                      leading_dimension_a, b, leading_dimension_b, T(0), c,
                                      leading_dimension_c);
}

}  // namespace compat
}  // namespace detail
}  // namespace postlude
#endif

#endif
