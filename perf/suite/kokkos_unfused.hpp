#ifndef POSTLUDE_PERF_KOKKOS_UNFUSED_HPP
#define POSTLUDE_PERF_KOKKOS_UNFUSED_HPP

#include <string>
#include <vector>

#include "peer.hpp"
#include "unfused_layers.hpp"

namespace postlude {
namespace perf {
namespace unfused {

/// Why a case cannot run with one Kokkos kernel for each operation on `backend`. The kernels are
/// compiled for Kokkos's default execution space alone: for each backend they take nvcc minutes.
std::string kokkos_refusal(Backend backend, const Case& what);

/// The case with one Kokkos kernel for each operation; the linear layer by `linear`, or by
/// KokkosBlas::gemm and kernels where that is empty. One file for each type, which nvcc compiles at
/// the same time.
Work kokkos_work(const ExecutionSpace& space, const LinearFunction<float>& linear, const Case& what,
                 const Inputs& inputs, const std::vector<DeviceTensor>& outputs);
Work kokkos_work(const ExecutionSpace& space, const LinearFunction<double>& linear,
                 const Case& what, const Inputs& inputs, const std::vector<DeviceTensor>& outputs);

}  // namespace unfused
}  // namespace perf
}  // namespace postlude

#endif
