#include "kokkos_runtime.hpp"

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include <postlude/error.hpp>

#include "compat/kokkos.hpp"

namespace postlude {
namespace detail {
namespace capi {
namespace {

/// Set by a finalize hook: Kokkos 3.4.01 has no is_finalized().
std::atomic<bool> finalized{false};

bool was_finalized() noexcept {
#if KOKKOS_VERSION >= 30700
  if (Kokkos::is_finalized()) return true;
#endif
  return finalized.load();
}

/// Kokkos aborts the process when it finds no device or not the one asked for, so that is looked
/// at first. Returns the device to ask for.
int checked_device(int device) {
#ifdef KOKKOS_ENABLE_CUDA
  int count = 0;
  cudaError_t failure = cudaGetDeviceCount(&count);
  if (failure != cudaSuccess || count == 0) {
    cudaGetLastError();
    throw Error(Status::backend_failure,
                std::string("no CUDA device was found (") + cudaGetErrorString(failure) +
                    "): this build of Postlude includes CUDA and needs one, whatever the backend");
  }
  if (device >= count)
    throw Error(Status::backend_failure, "device is " + std::to_string(device) +
                                             ": expected less than " + std::to_string(count) +
                                             ", the number of CUDA devices");
  if (device < 0) {
    failure = cudaGetDevice(&device);
    if (failure != cudaSuccess)
      throw Error(Status::backend_failure,
                  std::string("cudaGetDevice failed: ") + cudaGetErrorString(failure));
  }
#endif
  return device;
}

/// Warnings are disabled because they are advice to the author of a Kokkos program, printed to the
/// terminal of a host that may not know of Kokkos.
void initialize(const KokkosSettings& settings) {
  const int device = checked_device(settings.device);
#if KOKKOS_VERSION >= 30700
  Kokkos::InitializationSettings kokkos_settings;
  kokkos_settings.set_disable_warnings(true);
  if (settings.threads > 0) kokkos_settings.set_num_threads(settings.threads);
  if (device >= 0) kokkos_settings.set_device_id(device);
#else
  Kokkos::InitArguments kokkos_settings;
  kokkos_settings.disable_warnings = true;
  if (settings.threads > 0) kokkos_settings.num_threads = settings.threads;
  if (device >= 0) kokkos_settings.device_id = device;
#endif
  Kokkos::initialize(kokkos_settings);
}

// Before 3.7 Kokkos finds its OpenMP threads through a thread-local pointer, which only the thread
// that initialised it has. The exit handler runs on another one when the first context was made
// there, and would leave the threads' memory behind.
#if KOKKOS_VERSION < 30700 && defined(KOKKOS_ENABLE_OPENMP)
decltype(Kokkos::Impl::t_openmp_instance) openmp_instance = nullptr;

void remember_openmp_instance() { openmp_instance = Kokkos::Impl::t_openmp_instance; }
void recall_openmp_instance() { Kokkos::Impl::t_openmp_instance = openmp_instance; }
#else
void remember_openmp_instance() {}
void recall_openmp_instance() {}
#endif

void finalize_at_exit() {
  // An exception out of an exit handler would terminate the host.
  try {
    if (!Kokkos::is_initialized() || was_finalized()) return;
    recall_openmp_instance();
    Kokkos::finalize();
  } catch (...) {
  }
}

}  // namespace

void ensure_kokkos(const KokkosSettings& settings) {
  static std::mutex mutex;
  static bool is_watched = false;
  const std::lock_guard<std::mutex> lock(mutex);
  if (was_finalized())
    throw Error(Status::not_initialized,
                "Kokkos was finalised: it cannot be initialised twice in one process");
  if (!Kokkos::is_initialized()) {
    initialize(settings);
    remember_openmp_instance();
    compat::create_vendor_handles();
    // Registered after Kokkos, CUDA and the vendors' libraries have registered theirs, so it runs
    // before them.
    std::atexit(finalize_at_exit);
  }
  if (!is_watched) {
    Kokkos::push_finalize_hook([] { finalized.store(true); });
    is_watched = true;
  }
}

bool kokkos_is_usable() noexcept { return Kokkos::is_initialized() && !was_finalized(); }

void require_kokkos() {
  if (!kokkos_is_usable())
    throw Error(Status::not_initialized,
                "Kokkos is not initialised, or was finalised by the host: contexts and plans can "
                "only be destroyed now");
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude
