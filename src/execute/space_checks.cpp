#include "execute/space_checks.hpp"

#include <postlude/error.hpp>

#include "compat/kokkos.hpp"

namespace postlude {
namespace detail {

void require_kokkos() {
  if (!compat::is_kokkos_running())
    throw Error(Status::not_initialized,
                "Kokkos is not initialised, or was finalised: expected a running Kokkos");
}

void require_backend(const ExecutionSpace& space, Backend backend, const std::string& history) {
  if (space.backend() != backend)
    throw Error(Status::invalid_argument, std::string("space is an instance of backend ") +
                                              name_of(space.backend()) + ": " + history + " " +
                                              name_of(backend));
}

}  // namespace detail
}  // namespace postlude
