#ifndef POSTLUDE_COMPAT_CUDA_DRIVER_HPP
#define POSTLUDE_COMPAT_CUDA_DRIVER_HPP

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace postlude {
namespace detail {
namespace compat {

/// The function `name` of the CUDA driver that the runtime has loaded, as it was in CUDA 12.0, so
/// that nothing is linked against the driver. Null where the driver has none.
inline void* cuda_driver_function(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t result = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &found);
#endif
  if (result != cudaSuccess) (void)cudaGetLastError();
  return result == cudaSuccess && found == cudaDriverEntryPointSuccess ? address : nullptr;
}

}  // namespace compat
}  // namespace detail
}  // namespace postlude

#endif
