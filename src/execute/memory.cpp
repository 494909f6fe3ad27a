#include "execute/memory.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include <postlude/detail/traversal.hpp>
#include <postlude/error.hpp>

#include "compat/kokkos.hpp"
#include "compat/with_instance.hpp"
#include "plan/planner.hpp"

namespace postlude {
namespace detail {

BackendBuffer::BackendBuffer(const ExecutionSpace& space, std::size_t bytes)
    : backend_(space.backend()), bytes_(bytes) {
  if (bytes == 0) return;
  const auto fail = [&] {
    throw Error(Status::out_of_memory, "cannot allocate " + std::to_string(bytes) +
                                           " bytes of workspace on backend " +
                                           name_of(space.backend()));
  };
  if (bytes > PTRDIFF_MAX - workspace_alignment) fail();
  try {
    with_instance(space, [&](const auto& instance) {
      using Space = std::decay_t<decltype(instance)>;
      allocation_ = Kokkos::kokkos_malloc<typename Space::memory_space>(
          "postlude::workspace", bytes + workspace_alignment);
    });
  } catch (const std::exception&) {
    // Kokkos has thrown several types for this in its history.
    allocation_ = nullptr;
  }
  if (allocation_ == nullptr) fail();
  const auto address = reinterpret_cast<std::uintptr_t>(allocation_);
  const std::size_t past = address % workspace_alignment;
  data_ = static_cast<char*>(allocation_) + (past == 0 ? 0 : workspace_alignment - past);
}

BackendBuffer::~BackendBuffer() {
  if (allocation_ == nullptr || !compat::is_kokkos_running()) return;
  switch (backend_) {
#ifdef KOKKOS_ENABLE_CUDA
    case Backend::cuda:
      Kokkos::kokkos_free<Kokkos::CudaSpace>(allocation_);
      break;
#endif
    default:
      Kokkos::kokkos_free<Kokkos::HostSpace>(allocation_);
      break;
  }
}

BackendBuffer::BackendBuffer(BackendBuffer&& other) noexcept
    : backend_(other.backend_),
      allocation_(std::exchange(other.allocation_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

BackendBuffer& BackendBuffer::operator=(BackendBuffer&& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(allocation_, other.allocation_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

bool is_reachable(Backend backend, MemorySpace space) {
  const bool is_device =
      backend == Backend::cuda || backend == Backend::hip || backend == Backend::sycl;
  return space == MemorySpace::shared ||
         space == (is_device ? MemorySpace::device : MemorySpace::host);
}

bool is_plausible_address(Backend backend, const void* pointer) {
#ifdef KOKKOS_ENABLE_CUDA
  if (backend == Backend::cuda) {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
      (void)cudaGetLastError();
      return true;
    }
    return attributes.type != cudaMemoryTypeUnregistered;
  }
#endif
  (void)backend;
  (void)pointer;
  return true;
}

const void* queue_key(const ExecutionSpace& space) {
#ifdef KOKKOS_ENABLE_CUDA
  if (space.backend() == Backend::cuda) return space.get<Kokkos::Cuda>().cuda_stream();
#endif
  (void)space;
  return nullptr;
}

}  // namespace detail
}  // namespace postlude
