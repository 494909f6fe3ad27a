#ifndef POSTLUDE_GEMM_OPENMP_THREADS_HPP
#define POSTLUDE_GEMM_OPENMP_THREADS_HPP

#include <omp.h>

namespace postlude {
namespace detail {

/// While it lives, the parallel regions that the calling thread starts have exactly so many
/// threads, whatever OMP_NUM_THREADS, OMP_DYNAMIC and the caller's own settings say. Other threads
/// are not concerned.
class OpenMpThreads {
 public:
  explicit OpenMpThreads(int threads)
      : threads_before_(omp_get_max_threads()), is_dynamic_before_(omp_get_dynamic()) {
    omp_set_num_threads(threads);
    omp_set_dynamic(0);
  }
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;
  ~OpenMpThreads() {
    omp_set_num_threads(threads_before_);
    omp_set_dynamic(is_dynamic_before_);
  }

 private:
  int threads_before_;
  int is_dynamic_before_;
};

}  // namespace detail
}  // namespace postlude

#endif
