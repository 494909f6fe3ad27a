#ifndef POSTLUDE_CAPI_HOST_DEVICE_HPP
#define POSTLUDE_CAPI_HOST_DEVICE_HPP

#include "device.hpp"

namespace postlude {
namespace detail {
namespace capi {

/// The device of a CPU backend. Errors as make_device.
std::unique_ptr<Device> make_host_device(const DeviceRequest& request);

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
