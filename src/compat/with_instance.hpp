#ifndef POSTLUDE_COMPAT_WITH_INSTANCE_HPP
#define POSTLUDE_COMPAT_WITH_INSTANCE_HPP

#include <string>
#include <utility>

#include <postlude/error.hpp>
#include <postlude/execution_space.hpp>

#ifdef KOKKOS_ENABLE_OPENMP
#include "compat/openmp_threads.hpp"
#endif

namespace postlude {
namespace detail {

/// Calls `function(instance)` with the Kokkos instance that `space` holds, in its own type.
template <class Function>
decltype(auto) with_instance(const ExecutionSpace& space, Function&& function) {
  switch (space.backend()) {
#ifdef KOKKOS_ENABLE_SERIAL
    case Backend::serial:
      return function(space.get<Kokkos::Serial>());
#endif
#ifdef KOKKOS_ENABLE_OPENMP
    case Backend::openmp: {
      const auto& instance = space.get<Kokkos::OpenMP>();
      const OpenMpThreads threads(static_cast<int>(instance.concurrency()));
      return function(instance);
    }
#endif
#ifdef KOKKOS_ENABLE_THREADS
    case Backend::threads:
      return function(space.get<Kokkos::Threads>());
#endif
#ifdef KOKKOS_ENABLE_CUDA
    case Backend::cuda:
      return function(space.get<Kokkos::Cuda>());
#endif
    default:
      break;
  }
  throw Error(Status::unsupported, std::string("backend is ") + name_of(space.backend()) +
                                       ", which this build does not have");
}

}  // namespace detail
}  // namespace postlude

#endif
