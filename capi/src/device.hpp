#ifndef POSTLUDE_CAPI_DEVICE_HPP
#define POSTLUDE_CAPI_DEVICE_HPP

#include <postlude/execution_space.hpp>
#include <postlude/tensor.hpp>

#include <cstddef>
#include <functional>
#include <memory>

#include "argument_name.hpp"

namespace postlude {
namespace detail {
namespace capi {

/// The backend, device and stream of a context, and its memory. A backend is added by deriving from
/// this and giving make_device a line.
///
/// Every function throws Error: out_of_memory when an allocation fails, backend_failure when the
/// backend reports a failure. Threads: safe.
class Device {
 public:
  virtual ~Device() = default;

  virtual Backend backend() const = 0;
  virtual MemorySpace memory_space() const = 0;

  /// The execution-space instance that works on `stream`, null meaning the context's own. Errors
  /// also Error(invalid_argument), naming `argument`, for a stream that the backend has no use for.
  virtual ExecutionSpace space(void* stream, const ArgumentName& argument) = 0;

  /// Waits for all work that was given to any of the spaces.
  virtual void synchronize() = 0;

  /// Memory aligned to memory_alignment bytes; `bytes` is neither 0 nor so large that rounding it
  /// up to the alignment would overflow.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void deallocate(void* memory) = 0;

  /// Both wait for work that was given before, and for the copy.
  virtual void copy_to_backend(void* destination, const void* source, std::size_t bytes) = 0;
  virtual void copy_to_host(void* destination, const void* source, std::size_t bytes) = 0;

  /// Runs `work` with this device as the calling thread's current one, and then restores the one
  /// that the host had chosen.
  virtual void run(const std::function<void()>& work) = 0;
};

/// Waits for all work of a device before what it uses goes. A failed device has none left that
/// could be waited for, so that nothing is thrown.
void finish_work(Device& device) noexcept;

constexpr std::size_t memory_alignment = 256;

/// What postlude_context_create asks for.
struct DeviceRequest {
  Backend backend = Backend::serial;
  int number = -1;         ///< device number, -1 for the current one
  void* stream = nullptr;  ///< null for a stream of the device's own
};

/// Kokkos must be initialised. Errors: Error(unsupported) for a backend that was not built or a
/// device that is not the one of Kokkos, Error(invalid_argument) for a stream on a CPU.
std::unique_ptr<Device> make_device(const DeviceRequest& request);

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
