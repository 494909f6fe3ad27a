#ifndef POSTLUDE_SWEEP_POINTWISE_HPP
#define POSTLUDE_SWEEP_POINTWISE_HPP

#include <Kokkos_Core.hpp>

#include <postlude/detail/traversal.hpp>

#include "sweep/vector_width.hpp"

namespace postlude {
namespace detail {

/// A pointwise stage never gives a value to a reduction.
struct NoSink {
  template <class T>
  POSTLUDE_FUNCTION void operator()(int, const T*) const {}
};

/// A device thread takes `packets` packets, a warp's width apart.
template <class T, int packets, int width, class Code>
struct PointwiseThread {
  static constexpr std::int64_t segment = warp_threads * width * packets;

  Stage stage;
  std::int64_t segments;  ///< of a line

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t warp = item / warp_threads;
    std::int64_t line = 0;
    // 64-bit division takes tens of instructions, as many as a small stage.
    if (warp <= INT32_MAX && segments <= INT32_MAX)
      line = static_cast<std::uint32_t>(warp) / static_cast<std::uint32_t>(segments);
    else
      line = warp / segments;
    Span span;
    span.batch = line < stage.outer ? 0 : line / stage.outer;
    span.outer = line - span.batch * stage.outer;
    span.inner = (warp - line * segments) * segment + item % warp_threads * width;
    span.outer_end = stage.outer;
    span.inner_end = stage.inner;
    span.inner_step = warp_threads * width;
    if (span.inner < span.inner_end) evaluate<T, packets, width, Code>(stage, span, NoSink());
  }
};

template <class T, int packets, class Code, class Space>
void launch_pointwise_threads(const Space& space, const Stage& stage) {
  using Body = PointwiseThread<T, packets, packet_width<Space, T>(), Code>;
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  const std::int64_t segments = (stage.inner + Body::segment - 1) / Body::segment;
  Kokkos::parallel_for(sweep_label<Space>("pointwise"),
                       Kokkos::Experimental::require(
                           Policy(space, 0, stage.batch * stage.outer * segments * warp_threads),
                           Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                       Body{stage, segments});
}

/// A host work item takes several blocks, so that scheduling costs little beside the work.
template <class T, int width, class Code>
struct PointwiseBlocks {
  static constexpr int span = 8 * width;

  Stage stage;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t batch, std::int64_t outer, std::int64_t begin,
                                         int count) const {
    for (std::int64_t inner = begin; inner < begin + count; inner += width)
      evaluate<T, 1, width, Code>(stage, Span{batch, outer, inner, outer + 1, begin + count, 0, 0},
                                  NoSink());
  }
};

template <class T, class Code, class Space>
void pointwise_sweep(const Space& space, const Stage& stage) {
  const std::int64_t elements = stage.batch * stage.outer * stage.inner;
  if (elements == 0) return;
  if constexpr (is_device_space<Space>()) {
    // Many packets a thread pay where every multiprocessor still has enough warps and lines are
    // long enough to fill them.
    constexpr std::int64_t enough_elements = 1 << 20;
    constexpr std::int64_t long_line = 4 * warp_threads * packet_width<Space, T>();
    if (elements >= enough_elements && stage.inner >= long_line)
      launch_pointwise_threads<T, 4, Code>(space, stage);
    else
      launch_pointwise_threads<T, 1, Code>(space, stage);
  } else {
    traverse(space, sweep_label<Space>("pointwise"), stage.batch, stage.outer, stage.inner,
             PointwiseBlocks<T, packet_width<Space, T>(), Code>{stage});
  }
}

}  // namespace detail
}  // namespace postlude

#endif
