#include "compilation/runtime_program.hpp"

#include <nvrtc.h>

#include <vector>

#include <postlude/error.hpp>

#include "compilation/embedded_sources.hpp"

namespace postlude {
namespace detail {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& detail) {
  throw Error(Status::backend_failure, "compiling a stage at run time: " + what + ": " + detail);
}

void require(nvrtcResult result, const std::string& what) {
  if (result != NVRTC_SUCCESS) fail(what, nvrtcGetErrorString(result));
}

void require(cudaError_t result, const std::string& what) {
  if (result != cudaSuccess) fail(what, cudaGetErrorString(result));
}

class Compilation {
 public:
  explicit Compilation(const std::string& text) {
    std::vector<const char*> contents;
    std::vector<const char*> names;
    for (const EmbeddedSource& source : embedded_sources()) {
      contents.push_back(source.content);
      names.push_back(source.name);
    }
    require(nvrtcCreateProgram(&program_, text.c_str(), "postlude_stage.cu",
                               static_cast<int>(names.size()), contents.data(), names.data()),
            "creating the program");
  }
  ~Compilation() { nvrtcDestroyProgram(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  std::vector<char> cubin(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    const char* options[] = {target.c_str(), "--std=c++17", "-default-device"};
    if (nvrtcCompileProgram(program_, 3, options) != NVRTC_SUCCESS) fail("NVRTC", log());
    std::size_t size = 0;
    require(nvrtcGetCUBINSize(program_, &size), "the size of the code");
    std::vector<char> code(size);
    require(nvrtcGetCUBIN(program_, code.data()), "the code");
    return code;
  }

 private:
  std::string log() {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program_, &size);
    std::string text(size, '\0');
    if (size > 0) nvrtcGetProgramLog(program_, &text[0]);
    return text.substr(0, 2000);
  }

  nvrtcProgram program_ = nullptr;
};

}  // namespace

std::string architecture_of_device() {
  int device = 0;
  int major = 0;
  int minor = 0;
  require(cudaGetDevice(&device), "the current device");
  require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
          "its capability");
  require(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
          "its capability");
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

cudaLibrary_t compile_program(const std::string& text, const std::string& architecture) {
  const std::vector<char> code = Compilation(text).cubin(architecture);
  cudaLibrary_t library = nullptr;
  require(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "loading the code");
  return library;
}

cudaKernel_t kernel_of(cudaLibrary_t library, const char* name) {
  cudaKernel_t kernel = nullptr;
  require(cudaLibraryGetKernel(&kernel, library, name), "finding the kernel");
  return kernel;
}

}  // namespace detail
}  // namespace postlude
