#ifndef POSTLUDE_EXECUTE_MEMORY_HPP
#define POSTLUDE_EXECUTE_MEMORY_HPP

#include <cstddef>

#include <postlude/execution_space.hpp>
#include <postlude/tensor.hpp>

namespace postlude {
namespace detail {

/// Memory of a backend, aligned to 256 bytes. Freed with the object, unless Kokkos was finalised
/// before: then the memory went with it.
class BackendBuffer {
 public:
  BackendBuffer() = default;
  /// Throws Error(out_of_memory).
  BackendBuffer(const ExecutionSpace& space, std::size_t bytes);
  ~BackendBuffer();
  BackendBuffer(BackendBuffer&& other) noexcept;
  BackendBuffer& operator=(BackendBuffer&& other) noexcept;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Backend backend_ = Backend::serial;
  void* allocation_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// True when kernels of the backend can reach memory that is labelled so.
bool is_reachable(Backend backend, MemorySpace space);

/// False when the driver knows `pointer` to be ordinary host memory while the backend is a device:
/// catches pointers that their caller labelled wrongly.
bool is_plausible_address(Backend backend, const void* pointer);

/// Identifies the queue of an instance: two instances with one key run in order. Null on hosts.
const void* queue_key(const ExecutionSpace& space);

}  // namespace detail
}  // namespace postlude

#endif
