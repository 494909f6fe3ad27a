#ifndef POSTLUDE_PERF_KOKKOS_EXECUTOR_HPP
#define POSTLUDE_PERF_KOKKOS_EXECUTOR_HPP

#include "compat/kokkos.hpp"
#include "unfused_work.hpp"

namespace postlude {
namespace perf {
namespace unfused {

/// A team's work on one line.
template <class Member>
struct TeamLine {
  const Member& team;

  template <class Value>
  KOKKOS_FUNCTION double sum(int count, const Value& value) const {
    double total = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, count),
        [&](const int i, double& partial) { partial += value(i); }, total);
    return total;
  }
  template <class T, class Value>
  KOKKOS_FUNCTION T largest(int count, const Value& value) const {
    T result = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, count),
        [&](const int i, T& partial) {
          const T v = value(i);
          if (v > partial) partial = v;
        },
        Kokkos::Max<T>(result));
    return result;
  }
  template <class Body>
  KOKKOS_FUNCTION void each(int count, const Body& body) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](const int i) { body(i); });
  }
  template <class Body>
  KOKKOS_FUNCTION void once(const Body& body) const {
    Kokkos::single(Kokkos::PerTeam(team), [&] { body(); });
  }
};

template <class Space, class Body>
struct TeamKernel {
  using Member = typename Kokkos::TeamPolicy<Space>::member_type;
  Body body;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    body(TeamLine<Member>{team}, static_cast<std::int64_t>(team.league_rank()));
  }
};

template <class Space>
struct KokkosExecutor {
  Space space;

  template <class Body>
  void elements(std::int64_t count, const Body& body) const {
    Kokkos::parallel_for(
        "postlude::perf::unfused",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, count), body);
  }
  template <class Body>
  void lines(std::int64_t count, const Body& body) const {
    Kokkos::parallel_for("postlude::perf::unfused",
                         Kokkos::TeamPolicy<Space>(space, static_cast<int>(count), Kokkos::AUTO),
                         TeamKernel<Space, Body>{body});
  }
  /// y (m x n) = x (m x k) w^T; in column-major terms y^T = w x^T, the layout that every release
  /// hands on to a vendor's BLAS.
  template <class T>
  void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* x, const T* w, T* y) const {
    using Memory = Kokkos::Device<Space, typename Space::memory_space>;
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const auto size = [](std::int64_t extent) { return static_cast<std::size_t>(extent); };
    const Kokkos::View<const T**, Kokkos::LayoutLeft, Memory, Unmanaged> xt(x, size(k), size(m));
    const Kokkos::View<const T**, Kokkos::LayoutLeft, Memory, Unmanaged> wt(w, size(k), size(n));
    const Kokkos::View<T**, Kokkos::LayoutLeft, Memory, Unmanaged> yt(y, size(n), size(m));
    detail::compat::gemm(space, "T", "N", wt, xt, yt);
  }
};

}  // namespace unfused
}  // namespace perf
}  // namespace postlude

#endif
