#ifndef POSTLUDE_BACKEND_HPP
#define POSTLUDE_BACKEND_HPP

#include <cstdint>

namespace postlude {

/// The Kokkos backends that Postlude runs on. The values equal those of `postlude_backend` in C.
///
/// Since: 0.1.
enum class Backend : std::int32_t {
  serial = 1,   ///< Kokkos::Serial
  openmp = 2,   ///< Kokkos::OpenMP
  threads = 3,  ///< Kokkos::Threads
  cuda = 4,     ///< Kokkos::Cuda
  hip = 5,      ///< not built yet
  sycl = 6      ///< not built yet
};

/// The lower-case name of a backend, for example "openmp". Never null. Since: 0.1.
const char* name_of(Backend backend) noexcept;

/// True when this build of Postlude can execute on the backend. Since: 0.1.
bool is_available(Backend backend) noexcept;

}  // namespace postlude

#endif
