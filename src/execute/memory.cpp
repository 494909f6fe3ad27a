#include "execute/memory.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include <postlude/detail/traversal.hpp>
#include <postlude/error.hpp>

#include "compat/kokkos.hpp"
#include "compat/with_instance.hpp"
#include "gemm/large_pages.hpp"
#include "plan/planner.hpp"

#ifdef KOKKOS_ENABLE_CUDA
#include "compat/cuda_driver.hpp"
#endif

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
  // A large one of a host begins and ends with a page.
  const bool has_large_pages = is_reachable(backend_, MemorySpace::host) && bytes >= large_page;
  const std::size_t alignment = has_large_pages ? large_page : workspace_alignment;
  if (bytes > PTRDIFF_MAX - 2 * alignment) fail();
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  try {
    with_instance(space, [&](const auto& instance) {
      using Space = std::decay_t<decltype(instance)>;
      allocation_ = Kokkos::kokkos_malloc<typename Space::memory_space>("postlude::workspace",
                                                                        whole + alignment);
    });
  } catch (const std::exception&) {
    // Kokkos has thrown several types for this in its history.
    allocation_ = nullptr;
  }
  if (allocation_ == nullptr) fail();
  const auto address = reinterpret_cast<std::uintptr_t>(allocation_);
  const std::size_t past = address % alignment;
  data_ = static_cast<char*>(allocation_) + (past == 0 ? 0 : alignment - past);
  if (has_large_pages) ask_for_large_pages(data_, whole);
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

#ifdef KOKKOS_ENABLE_CUDA
namespace {

/// Asks the driver, which answers in a fraction of the time of cudaPointerGetAttributes: an
/// execution asks for every tensor. Memory that the driver does not know is the host's.
bool is_known_to_cuda(const void* pointer) {
  using Query = CUresult (*)(void*, CUpointer_attribute, CUdeviceptr);
  static const Query query =
      reinterpret_cast<Query>(compat::cuda_driver_function("cuPointerGetAttribute"));
  unsigned int type = 0;
  return query == nullptr ||
         query(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(pointer)) !=
             CUDA_ERROR_INVALID_VALUE;
}

}  // namespace
#endif

bool is_plausible_address(Backend backend, const void* pointer) {
#ifdef KOKKOS_ENABLE_CUDA
  if (backend == Backend::cuda) return is_known_to_cuda(pointer);
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
