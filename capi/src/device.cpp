#include "device.hpp"

#include <postlude/error.hpp>

#include <string>

#include "cuda_device.hpp"
#include "host_device.hpp"

namespace postlude {
namespace detail {
namespace capi {

std::unique_ptr<Device> make_device(const DeviceRequest& request) {
  if (request.backend == Backend::cuda) return make_cuda_device(request);
  return make_host_device(request);
}

void finish_work(Device& device) noexcept {
  try {
    device.synchronize();
  } catch (...) {
  }
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude
