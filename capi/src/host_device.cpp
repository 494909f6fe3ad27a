#include "host_device.hpp"

#include <Kokkos_Core.hpp>

#include <postlude/error.hpp>

#include <cstdlib>
#include <cstring>
#include <string>

namespace postlude {
namespace detail {
namespace capi {
namespace {

template <class Space>
class HostDevice final : public Device {
 public:
  Backend backend() const override { return BackendOf<Space>::value; }
  MemorySpace memory_space() const override { return MemorySpace::host; }

  ExecutionSpace space(void* stream, const ArgumentName& argument) override {
    if (stream != nullptr)
      throw Error(Status::invalid_argument, argument.text() +
                                                " is not null: expected NULL, since the backend " +
                                                name_of(backend()) + " has no streams");
    return space_;
  }

  void synchronize() override { space_.template get<Space>().fence(); }

  void* allocate(std::size_t bytes) override {
    // std::aligned_alloc wants a multiple of the alignment.
    const std::size_t blocks = (bytes + memory_alignment - 1) / memory_alignment;
    void* memory = std::aligned_alloc(memory_alignment, blocks * memory_alignment);
    if (memory == nullptr)
      throw Error(Status::out_of_memory,
                  "bytes is " + std::to_string(bytes) + ": the host could not allocate that");
    return memory;
  }

  void deallocate(void* memory) override { std::free(memory); }

  void copy_to_backend(void* destination, const void* source, std::size_t bytes) override {
    synchronize();
    std::memmove(destination, source, bytes);
  }

  void copy_to_host(void* destination, const void* source, std::size_t bytes) override {
    copy_to_backend(destination, source, bytes);
  }

  void run(const std::function<void()>& work) override { work(); }

 private:
  ExecutionSpace space_{Space()};
};

}  // namespace

std::unique_ptr<Device> make_host_device(const DeviceRequest& request) {
  std::unique_ptr<Device> device;
#ifdef KOKKOS_ENABLE_SERIAL
  if (request.backend == Backend::serial) device = std::make_unique<HostDevice<Kokkos::Serial>>();
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  if (request.backend == Backend::openmp) device = std::make_unique<HostDevice<Kokkos::OpenMP>>();
#endif
#ifdef KOKKOS_ENABLE_THREADS
  if (request.backend == Backend::threads) device = std::make_unique<HostDevice<Kokkos::Threads>>();
#endif
  if (!device)
    throw Error(Status::unsupported, std::string("options.backend is ") + name_of(request.backend) +
                                         ": Kokkos was built without it");
  device->space(request.stream, "options.stream");
  return device;
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude
