#ifndef POSTLUDE_DETAIL_TRAVERSAL_HPP
#define POSTLUDE_DETAIL_TRAVERSAL_HPP

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

namespace postlude {
namespace detail {

/// True for execution spaces with an accelerator's memory and threads.
template <class Space>
constexpr bool is_device_space() {
  return !Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;
}

/// Cuts batch x outer x inner elements into work items of at most `span` neighbours along inner.
template <class Body>
struct TraversalKernel {
  Body body;
  std::int64_t outer;
  std::int64_t inner;
  std::int64_t spans;  ///< work items for each line

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    std::int64_t line = 0;
    // 64-bit division takes tens of instructions on a GPU, as long as the body itself.
    if (item <= INT32_MAX && spans <= INT32_MAX)
      line = static_cast<std::uint32_t>(item) / static_cast<std::uint32_t>(spans);
    else
      line = item / spans;
    const std::int64_t begin = (item - line * spans) * Body::span;
    const std::int64_t batch = line < outer ? 0 : line / outer;
    const std::int64_t left = inner - begin;
    body(batch, line - batch * outer, begin,
         static_cast<int>(left < Body::span ? left : Body::span));
  }
};

/// Calls `body(batch, outer, inner, count)` once for every run of `count` <= Body::span
/// neighbouring elements of the domain, in parallel and in no particular order, on `space`.
template <class Space, class Body>
void traverse(const Space& space, const std::string& label, std::int64_t batch, std::int64_t outer,
              std::int64_t inner, const Body& body) {
  if (batch <= 0 || outer <= 0 || inner <= 0) return;
  const std::int64_t spans = (inner + Body::span - 1) / Body::span;
  using Policy =
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Static>>;
  // Lightweight: the kernel's arguments go by value, not through a buffer that launches would
  // share.
  Kokkos::parallel_for(
      label,
      Kokkos::Experimental::require(Policy(space, 0, batch * outer * spans),
                                    Kokkos::Experimental::WorkItemProperty::HintLightWeight),
      TraversalKernel<Body>{body, outer, inner, spans});
}

}  // namespace detail
}  // namespace postlude

#endif
