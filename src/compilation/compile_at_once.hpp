#ifndef POSTLUDE_COMPILATION_COMPILE_AT_ONCE_HPP
#define POSTLUDE_COMPILATION_COMPILE_AT_ONCE_HPP

#include <cuda_runtime_api.h>

#include <cstddef>
#include <future>
#include <vector>

namespace postlude {
namespace detail {

/// Calls compile(i) for i below `count`, each on a thread of its own whose current device is the
/// caller's: a plan needs a few kernels, and each takes a compiler half a second or more. Throws
/// what the first one that failed has thrown, after all have ended.
template <class Compile>
void compile_at_once(std::size_t count, const Compile& compile) {
  int device = 0;
  (void)cudaGetDevice(&device);
  std::vector<std::future<void>> running;
  for (std::size_t i = 0; i < count; ++i)
    running.push_back(std::async(std::launch::async, [&compile, device, i] {
      (void)cudaSetDevice(device);
      compile(i);
    }));
  for (std::future<void>& each : running) each.get();
}

}  // namespace detail
}  // namespace postlude

#endif
