#ifndef POSTLUDE_COMPILATION_COMPILE_AT_ONCE_HPP
#define POSTLUDE_COMPILATION_COMPILE_AT_ONCE_HPP

#include <cuda_runtime_api.h>

#include <cstddef>
#include <future>
#include <system_error>
#include <vector>

namespace postlude {
namespace detail {

/// Calls compile(i) for i below `count`, each on a thread of its own whose current device is the
/// caller's, as far as there are threads to be had: a plan needs a few kernels, and each takes a
/// compiler half a second or more. Throws what one that failed has thrown, after all have ended.
template <class Compile>
void compile_at_once(std::size_t count, const Compile& compile) {
  int device = 0;
  (void)cudaGetDevice(&device);
  std::vector<std::future<void>> running;
  std::size_t next = 0;
  try {
    for (; next + 1 < count; ++next)
      running.push_back(std::async(std::launch::async, [&compile, device, i = next] {
        (void)cudaSetDevice(device);
        compile(i);
      }));
  } catch (const std::system_error&) {
    // No thread: the caller's own does the rest.
  }
  for (; next < count; ++next) compile(next);
  for (std::future<void>& each : running) each.get();
}

}  // namespace detail
}  // namespace postlude

#endif
