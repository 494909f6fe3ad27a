#ifndef POSTLUDE_COMPILATION_RUNTIME_PROGRAM_HPP
#define POSTLUDE_COMPILATION_RUNTIME_PROGRAM_HPP

#include <cuda_runtime_api.h>

#include <string>

namespace postlude {
namespace detail {

/// Compiles CUDA C++ with NVRTC for an architecture such as "sm_90a", and loads it for the life of
/// the process. Its includes are the embedded sources. Throws Error(backend_failure).
cudaLibrary_t compile_program(const std::string& text, const std::string& architecture);

/// The current device's architecture, "sm_90".
std::string architecture_of_device();

/// An extern "C" kernel of a program. Throws Error(backend_failure).
cudaKernel_t kernel_of(cudaLibrary_t library, const char* name);

}  // namespace detail
}  // namespace postlude

#endif
