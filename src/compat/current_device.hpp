#ifndef POSTLUDE_COMPAT_CURRENT_DEVICE_HPP
#define POSTLUDE_COMPAT_CURRENT_DEVICE_HPP

#include <cuda_runtime_api.h>

#include <string>

#include <postlude/error.hpp>

namespace postlude {
namespace detail {
namespace compat {

/// Makes a device of CUDA the current one of this thread while it lives. Throws
/// Error(backend_failure).
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    require_success(cudaGetDevice(&before_));
    require_success(cudaSetDevice(device));
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() { (void)cudaSetDevice(before_); }

 private:
  static void require_success(cudaError_t result) {
    if (result == cudaSuccess) return;
    (void)cudaGetLastError();  // so that the host's next check does not find our failure
    throw Error(Status::backend_failure,
                std::string("changing the current device failed: ") + cudaGetErrorString(result));
  }

  int before_ = 0;
};

}  // namespace compat
}  // namespace detail
}  // namespace postlude

#endif
