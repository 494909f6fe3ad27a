#ifndef POSTLUDE_TESTS_SUPPORT_BACKEND_HPP
#define POSTLUDE_TESTS_SUPPORT_BACKEND_HPP

#include <cstddef>
#include <memory>

#include <postlude/backend.hpp>
#include <postlude/tensor.hpp>

namespace postlude {

class ExecutionSpace;

namespace test {

// The backend that an executable tests. Tests are compiled once, without knowing it; what follows
// is compiled for each backend, with the macro POSTLUDE_TEST_SPACE.

/// The default instance of the backend's execution space.
ExecutionSpace execution_space();
Backend backend();
/// Where the backend's own memory is: host or device.
MemorySpace memory_space();
/// Waits until all work has finished.
void fence();

/// Bytes in the backend's memory, aligned to at least 256.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes);
  void copy_from_host(const void* source);
  void copy_to_host(void* target) const;
  /// A part of it.
  void copy_to_host(void* target, std::size_t offset, std::size_t bytes) const;
  char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> owner_;
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Keeps Kokkos running.
class BackendGuard {
 public:
  BackendGuard();

 private:
  std::shared_ptr<void> kokkos_;
};

}  // namespace test
}  // namespace postlude

#endif
