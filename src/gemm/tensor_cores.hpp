#ifndef POSTLUDE_GEMM_TENSOR_CORES_HPP
#define POSTLUDE_GEMM_TENSOR_CORES_HPP

#include <cuda_runtime_api.h>

#include <string>

#include <postlude/execution_space.hpp>

#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

// What the engines on NVIDIA's tensor cores have in common.

/// "" when `space` is on a CUDA device of compute capability 8.0 or above, else why that is needed.
std::string tensor_core_refusal(const ExecutionSpace& space);

/// "" when the sizes are within what the vendor's GEMMs count in an int, else the one that is not.
std::string size_refusal(const GemmProblem& problem);

/// The device and stream of an instance of Kokkos::Cuda.
int device_of(const ExecutionSpace& space);
cudaStream_t stream_of(const ExecutionSpace& space);

/// Enqueues y = 0, for K = 0. y has a unit stride.
void zero_result(const GemmProblem& problem, void* y, cudaStream_t stream);

}  // namespace detail
}  // namespace postlude

#endif
