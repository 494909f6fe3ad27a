#include "gemm/thread_items.hpp"

#include <Kokkos_Core.hpp>

#include <atomic>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "compat/with_instance.hpp"

namespace postlude {
namespace detail {

std::int64_t thread_count(const ExecutionSpace& space) {
  return with_instance(space, [](const auto& instance) -> std::int64_t {
    return static_cast<std::int64_t>(instance.concurrency());
  });
}

void for_each_on_threads(std::int64_t threads, std::int64_t items, const ThreadWork& work) {
  std::atomic<std::int64_t> next{0};
  const auto take_items = [&](std::int64_t thread) {
    for (std::int64_t item = next++; item < items; item = next++) work(thread, item);
  };
  Kokkos::Profiling::pushRegion("postlude::panels[openmp]");
#ifdef _OPENMP
#pragma omp parallel num_threads(static_cast <int>(threads))
  take_items(omp_get_thread_num());
#else
  (void)threads;
  take_items(0);
#endif
  Kokkos::Profiling::popRegion();
}

}  // namespace detail
}  // namespace postlude
