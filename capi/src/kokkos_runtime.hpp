#ifndef POSTLUDE_CAPI_KOKKOS_RUNTIME_HPP
#define POSTLUDE_CAPI_KOKKOS_RUNTIME_HPP

namespace postlude {
namespace detail {
namespace capi {

/// What the library asks of Kokkos when it is the one to initialise it.
struct KokkosSettings {
  int threads = 0;  ///< host threads, 0 for all
  int device = -1;  ///< CUDA device, -1 for the host's current one
};

/// Makes Kokkos usable. Initialises it only when the host has not; what is initialised here is
/// finalised when the process exits, unless the host has done so by then.
///
/// Errors: Error(not_initialized) when Kokkos was finalised, Error(backend_failure) when there is
/// no such device. Threads: safe against itself, not against an initialisation by the host.
void ensure_kokkos(const KokkosSettings& settings);

/// False before ensure_kokkos and from the moment that Kokkos is finalised, by whomever. Kokkos
/// objects may be touched, even destroyed, only while it is true.
bool kokkos_is_usable() noexcept;

/// Throws Error(not_initialized) unless kokkos_is_usable().
void require_kokkos();

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
