#ifndef POSTLUDE_CAPI_CUDA_DEVICE_HPP
#define POSTLUDE_CAPI_CUDA_DEVICE_HPP

#include "device.hpp"

namespace postlude {
namespace detail {
namespace capi {

/// The CUDA device that Kokkos runs on. Errors as make_device; Error(unsupported) in a build
/// without CUDA.
std::unique_ptr<Device> make_cuda_device(const DeviceRequest& request);

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
