#include <postlude.h>

#include <postlude/error.hpp>

#include <cstddef>
#include <limits>
#include <mutex>
#include <string>
#include <unordered_map>

#include "context.hpp"
#include "guard.hpp"
#include "structs.hpp"

namespace {

using namespace postlude::detail::capi;
using postlude::Backend;
using postlude::Error;
using postlude::Status;

/// What postlude_allocate has given and postlude_free not yet taken back. A pointer that is freed
/// twice, on the wrong backend or that came from elsewhere is thus answered with a status.
class Allocations {
 public:
  static Allocations& instance() {
    // Never destroyed, so that memory may be freed in a host's exit handler.
    static Allocations& allocations = *new Allocations;
    return allocations;
  }

  void add(void* memory, Backend backend) {
    const std::lock_guard<std::mutex> lock(mutex_);
    backends_.emplace(memory, backend);
  }

  void remove(void* memory, Backend backend) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = backends_.find(memory);
    if (found == backends_.end())
      throw Error(Status::invalid_argument,
                  "memory is not, or no longer, an allocation of postlude_allocate");
    if (found->second != backend)
      throw Error(Status::invalid_argument,
                  std::string("memory was allocated on the backend ") + name_of(found->second) +
                      ": expected a context of that backend, not of " + name_of(backend));
    backends_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<void*, Backend> backends_;
};

/// No object can be larger than the greatest difference of pointers, and rounding such a size up to
/// the alignment could overflow.
void require_allocatable(std::size_t bytes) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (bytes > most - memory_alignment)
    throw Error(Status::out_of_memory,
                "bytes is " + std::to_string(bytes) + ": more than the address space can hold");
}

}  // namespace

postlude_status postlude_allocate(postlude_context* context, size_t bytes, void** memory) {
  return guard([&] {
    require_pointer(memory, "memory", "a place for the pointer");
    *memory = nullptr;
    Device& device = *state_of(context)->device;
    if (bytes == 0) return;
    require_allocatable(bytes);
    void* allocated = device.allocate(bytes);
    try {
      Allocations::instance().add(allocated, device.backend());
    } catch (...) {
      device.deallocate(allocated);
      throw;
    }
    *memory = allocated;
  });
}

postlude_status postlude_free(postlude_context* context, void* memory) {
  return guard([&] {
    Device& device = *state_of(context)->device;
    if (memory == nullptr) return;
    device.synchronize();
    Allocations::instance().remove(memory, device.backend());
    device.deallocate(memory);
  });
}

postlude_status postlude_copy_to_backend(postlude_context* context, void* destination,
                                         const void* source, size_t bytes) {
  return guard([&] {
    Device& device = *state_of(context)->device;
    if (bytes == 0) return;
    require_pointer(destination, "destination", "memory of the context's backend");
    require_pointer(source, "source", "host memory");
    device.copy_to_backend(destination, source, bytes);
  });
}

postlude_status postlude_copy_to_host(postlude_context* context, void* destination,
                                      const void* source, size_t bytes) {
  return guard([&] {
    Device& device = *state_of(context)->device;
    if (bytes == 0) return;
    require_pointer(destination, "destination", "host memory");
    require_pointer(source, "source", "memory of the context's backend");
    device.copy_to_host(destination, source, bytes);
  });
}
