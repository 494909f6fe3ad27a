#include "gemm/tensor_cores.hpp"

#include <climits>
#include <cstddef>

#include "gemm/cuda_status.hpp"
#include "gemm/matrix_form.hpp"

namespace postlude {
namespace detail {

std::string tensor_core_refusal(const ExecutionSpace& space) {
  const std::string needed = "needs a CUDA device of compute capability 8.0 or above: ";
  if (space.backend() != Backend::cuda)
    return needed + "the backend is " + name_of(space.backend());
  int major = 0;
  int minor = 0;
  require_success(
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device_of(space)),
      "cudaDeviceGetAttribute");
  require_success(
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device_of(space)),
      "cudaDeviceGetAttribute");
  if (major >= 8) return "";
  return needed + "this one has " + std::to_string(major) + "." + std::to_string(minor);
}

std::string size_refusal(const GemmProblem& problem) {
  // Twice as many rows and elements of a row are there when float32 is split.
  for (const std::int64_t size : {problem.m, problem.n, problem.k, problem.batch})
    if (size > INT_MAX / 2 - 8)
      return "sizes are limited to " + std::to_string(INT_MAX / 2 - 8) + ", not " +
             std::to_string(size);
  return "";
}

int device_of(const ExecutionSpace& space) { return space.get<Kokkos::Cuda>().cuda_device(); }

cudaStream_t stream_of(const ExecutionSpace& space) {
  return space.get<Kokkos::Cuda>().cuda_stream();
}

void zero_result(const GemmProblem& problem, void* y, cudaStream_t stream) {
  const BlasMatrix form = blas_form(problem.m, problem.n, problem.y);
  const bool by_rows = form.form == MatrixForm::row_major;
  const auto lines = static_cast<std::size_t>(by_rows ? problem.m : problem.n);
  const auto length = static_cast<std::size_t>(by_rows ? problem.n : problem.m);
  for (std::int64_t batch = 0; batch < problem.batch; ++batch)
    require_success(
        cudaMemset2DAsync(static_cast<float*>(y) + batch * problem.y.batch,
                          static_cast<std::size_t>(form.leading_dimension) * sizeof(float), 0,
                          length * sizeof(float), lines, stream),
        "cudaMemset2DAsync");
}

}  // namespace detail
}  // namespace postlude
