#include "support/backend.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <postlude/execution_space.hpp>
#include <postlude/view.hpp>

namespace postlude {
namespace test {
namespace {

using Space = POSTLUDE_TEST_SPACE;
using Bytes = Kokkos::View<unsigned char*, Space::memory_space>;
using HostBytes =
    Kokkos::View<unsigned char*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
using DeviceBytes =
    Kokkos::View<unsigned char*, Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

constexpr std::size_t alignment = 256;

}  // namespace

ExecutionSpace execution_space() { return Space(); }
Backend backend() { return detail::BackendOf<Space>::value; }
MemorySpace memory_space() { return detail::memory_space_of<Space::memory_space>(); }
void fence() { Space().fence(); }

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
  const auto view = std::make_shared<Bytes>(
      Kokkos::view_alloc("postlude::test", Kokkos::WithoutInitializing), bytes + alignment);
  const auto address = reinterpret_cast<std::uintptr_t>(view->data());
  data_ = reinterpret_cast<char*>(view->data()) + (alignment - address % alignment) % alignment;
  owner_ = view;
}

void DeviceBuffer::copy_from_host(const void* source) {
  const auto* bytes = static_cast<const unsigned char*>(source);
  Kokkos::deep_copy(DeviceBytes(reinterpret_cast<unsigned char*>(data_), bytes_),
                    HostBytes(const_cast<unsigned char*>(bytes), bytes_));
}

void DeviceBuffer::copy_to_host(void* target) const { copy_to_host(target, 0, bytes_); }

void DeviceBuffer::copy_to_host(void* target, std::size_t offset, std::size_t bytes) const {
  Kokkos::deep_copy(HostBytes(static_cast<unsigned char*>(target), bytes),
                    DeviceBytes(reinterpret_cast<unsigned char*>(data_) + offset, bytes));
}

BackendGuard::BackendGuard() {
  char name[] = "postlude_tests";
  char* arguments[] = {name, nullptr};
  int count = 1;
  kokkos_ = std::make_shared<Kokkos::ScopeGuard>(count, arguments);
}

}  // namespace test
}  // namespace postlude
