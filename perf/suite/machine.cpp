#include "machine.hpp"

#include <unistd.h>
#include <Kokkos_Core.hpp>
#include <postlude/version.hpp>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "git_state.hpp"

namespace postlude {
namespace perf {
namespace {

/// What follows "name:" in a file of lines such as those of /proc/cpuinfo; "" when it is not there.
std::string entry_of(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

#ifdef KOKKOS_ENABLE_CUDA
/// The number in "NVRM version: NVIDIA UNIX ... Kernel Module  580.00.00  date".
std::string nvidia_driver() {
  std::istringstream words(entry_of("/proc/driver/nvidia/version", "NVRM version"));
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  return "unknown";
}

cudaDeviceProp device_properties() {
  int device = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&device) == cudaSuccess) cudaGetDeviceProperties(&properties, device);
  return properties;
}
#endif

std::size_t of_system(int name) {
  const long value = sysconf(name);
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

}  // namespace

nlohmann::json machine_of(Backend backend) {
  const std::string processor = entry_of("/proc/cpuinfo", "model name");
  nlohmann::json machine = {{"processor", processor.empty() ? "unknown" : processor},
                            {"cores", std::thread::hardware_concurrency()},
                            {"device", nullptr},
                            {"driver", nullptr},
                            {"threads", 1}};
#ifdef KOKKOS_ENABLE_CUDA
  if (backend == Backend::cuda) {
    machine["device"] = device_properties().name;
    machine["driver"] = nvidia_driver();
  }
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  if (backend == Backend::openmp) machine["threads"] = Kokkos::OpenMP().concurrency();
#endif
  return machine;
}

nlohmann::json software() {
  nlohmann::json list = {
      {"postlude", POSTLUDE_VERSION_STRING},
      {"kokkos", std::to_string(KOKKOS_VERSION / 10000) + "." +
                     std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
                     (KOKKOS_VERSION % 100 < 10 ? "0" : "") + std::to_string(KOKKOS_VERSION % 100)},
#ifdef __VERSION__
      {"compiler", __VERSION__},
#endif
  };
#ifdef KOKKOS_ENABLE_CUDA
  list["cuda"] =
      std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
#endif
  return list;
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

std::size_t cache_bytes(Backend backend) {
#ifdef KOKKOS_ENABLE_CUDA
  if (backend == Backend::cuda) return static_cast<std::size_t>(device_properties().l2CacheSize);
#endif
  (void)backend;
  std::size_t bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  bytes = std::max(of_system(_SC_LEVEL2_CACHE_SIZE), of_system(_SC_LEVEL3_CACHE_SIZE));
#endif
  return bytes == 0 ? std::size_t(32) << 20 : bytes;
}

std::size_t usable_bytes(Backend backend) {
#ifdef KOKKOS_ENABLE_CUDA
  if (backend == Backend::cuda) {
    std::size_t free = 0, total = 0;
    return cudaMemGetInfo(&free, &total) == cudaSuccess ? free / 2 : std::size_t(1) << 30;
  }
#endif
  (void)backend;
  std::istringstream available(entry_of("/proc/meminfo", "MemAvailable"));
  std::size_t kilobytes = 0;
  available >> kilobytes;
  return kilobytes == 0 ? std::size_t(1) << 30 : kilobytes * 1024 / 2;
}

}  // namespace perf
}  // namespace postlude
