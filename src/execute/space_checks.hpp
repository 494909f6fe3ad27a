#ifndef POSTLUDE_EXECUTE_SPACE_CHECKS_HPP
#define POSTLUDE_EXECUTE_SPACE_CHECKS_HPP

#include <string>

#include <postlude/execution_space.hpp>

namespace postlude {
namespace detail {

/// Throws Error(not_initialized) unless Kokkos is running.
void require_kokkos();

/// Throws Error(invalid_argument) unless the instance is one of `backend`; `history` says why it
/// must be, as "the plan was made for".
void require_backend(const ExecutionSpace& space, Backend backend, const std::string& history);

}  // namespace detail
}  // namespace postlude

#endif
