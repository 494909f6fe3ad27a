#ifndef POSTLUDE_GEMM_CUDA_STATUS_HPP
#define POSTLUDE_GEMM_CUDA_STATUS_HPP

#include <cuda_runtime_api.h>
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

#include <string>

#include <postlude/error.hpp>

namespace postlude {
namespace detail {

/// Throws Error(backend_failure) that names the call, unless it succeeded.
inline void require_success(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  (void)cudaGetLastError();  // so that the host's next check does not find our failure
  throw Error(Status::backend_failure,
              std::string(call) + " failed: " + cudaGetErrorString(result));
}

#if __has_include(<cublasLt.h>)
inline void require_success(cublasStatus_t result, const char* call) {
  if (result != CUBLAS_STATUS_SUCCESS)
    throw Error(Status::backend_failure,
                std::string(call) + " failed: " + cublasLtGetStatusString(result));
}
#endif

}  // namespace detail
}  // namespace postlude

#endif
