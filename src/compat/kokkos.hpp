#ifndef POSTLUDE_COMPAT_KOKKOS_HPP
#define POSTLUDE_COMPAT_KOKKOS_HPP

#include <Kokkos_Core.hpp>

#include <KokkosBlas3_gemm.hpp>
#if __has_include(<KokkosKernels_EagerInitialize.hpp>)
#include <KokkosKernels_EagerInitialize.hpp>
#define POSTLUDE_HAS_EAGER_INITIALIZE
#endif

#include <type_traits>
#include <utility>

/// The only place that knows how the supported releases of Kokkos and Kokkos Kernels (3.4.01 and
/// later) differ.
namespace postlude {
namespace detail {
namespace compat {

/// Kokkos is running: initialised, and not finalised since.
inline bool is_kokkos_running() { return Kokkos::is_initialized(); }

/// Creates the vendor libraries' handles that Kokkos Kernels keeps, which it destroys when Kokkos
/// is finalised. A library whose first use comes later than the registration of an exit handler is
/// torn down before that handler runs, and finalising Kokkos there would use it after its end.
inline void create_vendor_handles() {
#ifdef POSTLUDE_HAS_EAGER_INITIALIZE
  KokkosKernels::eager_initialize();
#endif
}

template <class Space, class A, class B, class C, class = void>
struct HasGemmOnInstance : std::false_type {};

template <class Space, class A, class B, class C>
struct HasGemmOnInstance<
    Space, A, B, C,
    std::void_t<decltype(KokkosBlas::gemm(
        std::declval<const Space&>(), "N", "N", std::declval<typename A::const_value_type&>(),
        std::declval<const A&>(), std::declval<const B&>(),
        std::declval<typename C::const_value_type&>(), std::declval<const C&>()))>>
    : std::true_type {};

/// C = op(A) op(B) on `space`. Kokkos Kernels 3.4 takes no instance and runs on the default one:
/// there the two instances are kept in order by fences.
template <class Space, class A, class B, class C>
void gemm(const Space& space, const char* transpose_a, const char* transpose_b, const A& a,
          const B& b, const C& c) {
  const typename C::non_const_value_type one = 1;
  const typename C::non_const_value_type zero = 0;
  if constexpr (HasGemmOnInstance<Space, A, B, C>::value) {
    KokkosBlas::gemm(space, transpose_a, transpose_b, one, a, b, zero, c);
  } else {
    space.fence();
    KokkosBlas::gemm(transpose_a, transpose_b, one, a, b, zero, c);
    Space().fence();
  }
}

}  // namespace compat
}  // namespace detail
}  // namespace postlude

#endif
