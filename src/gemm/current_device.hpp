#ifndef POSTLUDE_GEMM_CURRENT_DEVICE_HPP
#define POSTLUDE_GEMM_CURRENT_DEVICE_HPP

#include <cuda_runtime_api.h>

#include "gemm/cuda_status.hpp"

namespace postlude {
namespace detail {

/// Makes a device the current one of this thread while it lives: a kernel is readied for the device
/// that is current, which need not be that of the plan.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    require_success(cudaGetDevice(&before_), "cudaGetDevice");
    require_success(cudaSetDevice(device), "cudaSetDevice");
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() { (void)cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

}  // namespace detail
}  // namespace postlude

#endif
