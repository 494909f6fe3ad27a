#ifndef POSTLUDE_SWEEP_POINTWISE_HPP
#define POSTLUDE_SWEEP_POINTWISE_HPP

#include <Kokkos_Core.hpp>

#include <postlude/detail/traversal.hpp>

#include "sweep/device_body.hpp"
#include "sweep/host_line.hpp"
#include "sweep/sweep_label.hpp"

namespace postlude {
namespace detail {

/// Packets for each thread of a pointwise sweep on a device: many pay where every multiprocessor
/// still has enough warps and lines are long enough to fill them.
template <class T>
int pointwise_packets(const Stage& stage) {
  constexpr std::int64_t enough_elements = 1 << 20;
  constexpr std::int64_t long_line = 4 * warp_threads * device_width<T>();
  return stage.batch * stage.outer * stage.inner >= enough_elements && stage.inner >= long_line ? 4
                                                                                                : 1;
}

/// Segments of one warp that a line has.
template <class T>
std::int64_t pointwise_segments(const Stage& stage, int packets) {
  const std::int64_t segment = warp_threads * device_width<T>() * packets;
  return (stage.inner + segment - 1) / segment;
}

template <class T, int packets>
struct PointwiseThread {
  Stage stage;
  std::int64_t segments;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    pointwise_thread<T, packets, InterpretedCode>(stage, segments, item);
  }
};

template <class T, int packets, class Space>
void launch_pointwise_threads(const Space& space, const Stage& stage) {
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  const std::int64_t segments = pointwise_segments<T>(stage, packets);
  Kokkos::parallel_for(sweep_label<Space>("pointwise"),
                       Kokkos::Experimental::require(
                           Policy(space, 0, stage.batch * stage.outer * segments * warp_threads),
                           Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                       PointwiseThread<T, packets>{stage, segments});
}

/// A host work item takes several blocks, so that scheduling costs little beside the work.
template <class T>
struct PointwiseBlocks {
  static constexpr int span = 8 * host_width;

  Stage stage;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t batch, std::int64_t outer, std::int64_t begin,
                                         int count) const {
    evaluate_line<T>(stage, batch, outer, begin, begin + count);
  }
};

template <class T, class Space>
void pointwise_sweep(const Space& space, const Stage& stage) {
  if (stage.batch * stage.outer * stage.inner == 0) return;
  if constexpr (!is_device_space<Space>())
    traverse(space, sweep_label<Space>("pointwise"), stage.batch, stage.outer, stage.inner,
             PointwiseBlocks<T>{stage});
  else if (pointwise_packets<T>(stage) == 4)
    launch_pointwise_threads<T, 4>(space, stage);
  else
    launch_pointwise_threads<T, 1>(space, stage);
}

}  // namespace detail
}  // namespace postlude

#endif
