#include "cuda_device.hpp"

#include <Kokkos_Core.hpp>

#include <postlude/error.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#ifdef KOKKOS_ENABLE_CUDA
#include "compat/current_device.hpp"
#endif

namespace postlude {
namespace detail {
namespace capi {

#ifdef KOKKOS_ENABLE_CUDA

namespace {

void require_success(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // Clears it, so that the host's next check does not find our failure.
  throw Error(result == cudaErrorMemoryAllocation ? Status::out_of_memory : Status::backend_failure,
              std::string(call) + " failed: " + cudaGetErrorName(result) + ", " +
                  cudaGetErrorString(result));
}

/// A stream, destroyed with this object when it was created here.
class Stream {
 public:
  explicit Stream(cudaStream_t stream) : stream_(stream), is_owned_(stream == nullptr) {
    // A stream that waits for the legacy default stream and makes it wait: a host that fills its
    // buffers with a plain cudaMemcpy needs no synchronisation of its own.
    if (is_owned_) require_success(cudaStreamCreate(&stream_), "cudaStreamCreate");
  }
  ~Stream() {
    if (is_owned_) cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_;
  bool is_owned_;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(int number, cudaStream_t stream)
      : number_(number), stream_(stream), space_(Kokkos::Cuda(stream_.get())) {
    require_own_device(*space_, "options.stream");
  }

  ~CudaDevice() override {
    try {
      const compat::CurrentDevice current(number_);
      synchronize();
      spaces_.clear();
      space_.reset();
    } catch (...) {
      // A failed device cannot be waited for; what can be released is released all the same.
    }
  }

  Backend backend() const override { return Backend::cuda; }
  MemorySpace memory_space() const override { return MemorySpace::device; }

  ExecutionSpace space(void* stream, const ArgumentName& argument) override {
    const auto key = static_cast<cudaStream_t>(stream);
    if (key == nullptr || key == stream_.get()) return *space_;
    has_foreign_work_.store(true);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(spaces_.begin(), spaces_.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (found != spaces_.end()) {
      std::rotate(spaces_.begin(), found, found + 1);
      return spaces_.front().second;
    }
    const compat::CurrentDevice current(number_);
    ExecutionSpace created(Kokkos::Cuda{key});
    require_own_device(created, argument);
    if (spaces_.size() == most_spaces) {
      // The host may have destroyed the stream, so only the device can be asked whether the work
      // that uses the instance's scratch memory has finished.
      require_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      spaces_.pop_back();
    }
    spaces_.insert(spaces_.begin(), {key, created});
    return created;
  }

  void synchronize() override {
    const compat::CurrentDevice current(number_);
    // Streams of the host are not touched: it may have destroyed them since.
    if (has_foreign_work_.exchange(false))
      require_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    else
      require_success(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
  }

  // Not kokkos_malloc: its header in front of the memory spoils the alignment in older Kokkos.
  void* allocate(std::size_t bytes) override {
    const compat::CurrentDevice current(number_);
    void* memory = nullptr;
    const cudaError_t result = cudaMalloc(&memory, bytes);
    if (result == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw Error(Status::out_of_memory, "bytes is " + std::to_string(bytes) +
                                             ": the CUDA device could not allocate that");
    }
    require_success(result, "cudaMalloc");
    return memory;
  }

  void deallocate(void* memory) override {
    const compat::CurrentDevice current(number_);
    require_success(cudaFree(memory), "cudaFree");
  }

  void copy_to_backend(void* destination, const void* source, std::size_t bytes) override {
    copy(destination, source, bytes, cudaMemcpyHostToDevice);
  }

  void copy_to_host(void* destination, const void* source, std::size_t bytes) override {
    copy(destination, source, bytes, cudaMemcpyDeviceToHost);
  }

  void run(const std::function<void()>& work) override {
    const compat::CurrentDevice current(number_);
    work();
  }

 private:
  void copy(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
    synchronize();
    const compat::CurrentDevice current(number_);
    require_success(cudaMemcpyAsync(destination, source, bytes, kind, stream_.get()),
                    "cudaMemcpyAsync");
    require_success(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
  }

  void require_own_device(const ExecutionSpace& space, const ArgumentName& argument) const {
    const int device = space.get<Kokkos::Cuda>().cuda_device();
    if (device != number_)
      throw Error(Status::unsupported,
                  argument.text() + " belongs to CUDA device " + std::to_string(device) +
                      ": expected a stream of device " + std::to_string(number_) +
                      ", on which Kokkos runs in this process");
  }

  /// Kokkos instances are costly to make (they allocate, which waits for the device), so those of
  /// the host's streams are kept, the last used first. A host that makes a stream for every
  /// execution must not make this grow.
  static constexpr std::size_t most_spaces = 16;

  int number_;
  Stream stream_;
  std::optional<ExecutionSpace> space_;  ///< always there until the destructor runs
  std::mutex mutex_;
  std::vector<std::pair<cudaStream_t, ExecutionSpace>> spaces_;
  std::atomic<bool> has_foreign_work_{false};
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(const DeviceRequest& request) {
  const int number = Kokkos::Cuda().cuda_device();
  if (request.number >= 0 && request.number != number)
    throw Error(Status::unsupported, "options.device is " + std::to_string(request.number) +
                                         ": expected -1 or " + std::to_string(number) +
                                         ", the only device on which Kokkos runs in this process");
  const compat::CurrentDevice current(number);
  return std::make_unique<CudaDevice>(number, static_cast<cudaStream_t>(request.stream));
}

#else

std::unique_ptr<Device> make_cuda_device(const DeviceRequest&) {
  throw Error(Status::unsupported, "options.backend is cuda: Kokkos was built without it");
}

#endif

}  // namespace capi
}  // namespace detail
}  // namespace postlude
