#ifndef POSTLUDE_COMPAT_OPENMP_THREADS_HPP
#define POSTLUDE_COMPAT_OPENMP_THREADS_HPP

#include <omp.h>

namespace postlude {
namespace detail {

/// While it lives, the parallel regions that the calling thread starts have exactly so many
/// threads, whatever the caller has set (omp_set_num_threads, omp_set_dynamic,
/// omp_set_max_active_levels): Kokkos and oneDNN leave a part of the work undone where they get
/// fewer than they were promised. Other threads are not concerned.
class OpenMpThreads {
 public:
  explicit OpenMpThreads(int threads)
      : threads_before_(omp_get_max_threads()),
        is_dynamic_before_(omp_get_dynamic()),
        levels_before_(omp_get_max_active_levels()) {
    omp_set_num_threads(threads);
    omp_set_dynamic(0);
    if (levels_before_ < 1) omp_set_max_active_levels(1);
  }
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;
  ~OpenMpThreads() {
    omp_set_num_threads(threads_before_);
    omp_set_dynamic(is_dynamic_before_);
    if (levels_before_ < 1) omp_set_max_active_levels(levels_before_);
  }

 private:
  int threads_before_;
  int is_dynamic_before_;
  int levels_before_;
};

}  // namespace detail
}  // namespace postlude

#endif
