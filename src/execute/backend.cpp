#include <postlude/backend.hpp>

#include <Kokkos_Core.hpp>

namespace postlude {

const char* name_of(Backend backend) noexcept {
  switch (backend) {
    case Backend::serial:
      return "serial";
    case Backend::openmp:
      return "openmp";
    case Backend::threads:
      return "threads";
    case Backend::cuda:
      return "cuda";
    case Backend::hip:
      return "hip";
    case Backend::sycl:
      return "sycl";
  }
  return "unknown backend";
}

bool is_available(Backend backend) noexcept {
  switch (backend) {
#ifdef KOKKOS_ENABLE_SERIAL
    case Backend::serial:
      return true;
#endif
#ifdef KOKKOS_ENABLE_OPENMP
    case Backend::openmp:
      return true;
#endif
#ifdef KOKKOS_ENABLE_THREADS
    case Backend::threads:
      return true;
#endif
#ifdef KOKKOS_ENABLE_CUDA
    case Backend::cuda:
      return true;
#endif
    default:
      return false;
  }
}

}  // namespace postlude
