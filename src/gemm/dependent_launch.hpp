#ifndef POSTLUDE_GEMM_DEPENDENT_LAUNCH_HPP
#define POSTLUDE_GEMM_DEPENDENT_LAUNCH_HPP

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace postlude {
namespace detail {

/// Enqueues a kernel for compute capability 9.0 that may begin while the kernel before it ends, and
/// therefore waits for it itself: wait_for_kernel_before() in hopper_primitives.cuh.
inline cudaError_t launch_dependent(const void* kernel, std::int64_t blocks, int threads,
                                    int dynamic_bytes, void** arguments, cudaStream_t stream) {
  cudaLaunchConfig_t configuration = {};
  cudaLaunchAttribute attribute = {};
  configuration.gridDim = dim3(static_cast<unsigned>(blocks));
  configuration.blockDim = dim3(static_cast<unsigned>(threads));
  configuration.dynamicSmemBytes = static_cast<std::size_t>(dynamic_bytes);
  configuration.stream = stream;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  return cudaLaunchKernelExC(&configuration, kernel, arguments);
}

}  // namespace detail
}  // namespace postlude

#endif
