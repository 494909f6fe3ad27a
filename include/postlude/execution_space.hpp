#ifndef POSTLUDE_EXECUTION_SPACE_HPP
#define POSTLUDE_EXECUTION_SPACE_HPP

#include <Kokkos_Core.hpp>

#include <memory>

#include <postlude/backend.hpp>

namespace postlude {

namespace detail {

template <class Space>
struct BackendOf;
#ifdef KOKKOS_ENABLE_SERIAL
template <>
struct BackendOf<Kokkos::Serial> {
  static constexpr Backend value = Backend::serial;
};
#endif
#ifdef KOKKOS_ENABLE_OPENMP
template <>
struct BackendOf<Kokkos::OpenMP> {
  static constexpr Backend value = Backend::openmp;
};
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
struct BackendOf<Kokkos::Threads> {
  static constexpr Backend value = Backend::threads;
};
#endif
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct BackendOf<Kokkos::Cuda> {
  static constexpr Backend value = Backend::cuda;
};
#endif

}  // namespace detail

/// A Kokkos execution-space instance whose type has been erased, so that one compiled library
/// serves every backend.
///
/// Holds a copy of the instance, which in Kokkos is a reference-counted handle: a stream given to
/// `Kokkos::Cuda(stream)` must outlive it. Threads: immutable, safe to share. Since: 0.1.
class ExecutionSpace {
 public:
  /// Wraps `instance`; implicit, so that a Kokkos instance can be given wherever one is expected.
  template <class Instance, class = decltype(detail::BackendOf<Instance>::value)>
  ExecutionSpace(const Instance& instance)
      : backend_(detail::BackendOf<Instance>::value),
        instance_(std::make_shared<Instance>(instance)) {}

  /// The backend that the instance belongs to.
  Backend backend() const noexcept { return backend_; }

  /// The Kokkos instance; `Instance` must be the type of `backend()`.
  template <class Instance>
  const Instance& get() const noexcept {
    return *static_cast<const Instance*>(instance_.get());
  }

 private:
  Backend backend_;
  std::shared_ptr<const void> instance_;
};

}  // namespace postlude

#endif
