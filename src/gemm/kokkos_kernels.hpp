#ifndef POSTLUDE_GEMM_KOKKOS_KERNELS_HPP
#define POSTLUDE_GEMM_KOKKOS_KERNELS_HPP

#include "gemm/engine.hpp"

namespace postlude {
namespace detail {

/// The portable engine: KokkosBlas::gemm, which calls the vendor's BLAS where Kokkos Kernels was
/// built with it. float32 and float64, all transposes; operands that a GEMM cannot take directly
/// are packed into the workspace first.
const Engine& kokkos_kernels_engine();

}  // namespace detail
}  // namespace postlude

#endif
