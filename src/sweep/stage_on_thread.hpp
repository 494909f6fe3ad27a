#ifndef POSTLUDE_SWEEP_STAGE_ON_THREAD_HPP
#define POSTLUDE_SWEEP_STAGE_ON_THREAD_HPP

#include "sweep/bound_stage.hpp"
#include "sweep/host_line.hpp"
#include "sweep/outer_reduction.hpp"

namespace postlude {
namespace detail {

/// Runs a stage on the calling thread of a host alone, without Kokkos.
template <class T>
void stage_on_thread(const BoundStage& bound) {
  const Stage& stage = bound.stage;
  if (bound.sweep == SweepKind::outer_reduction) {
    if (stage.batch * stage.inner == 0) return;
    HostPartials partials(stage, bound.partials);
    for (; partials.first < partials.tiles.count; partials.first += partials.tiles.at_once)
      for (std::int64_t tile = 0; tile < partials.at_hand(); ++tile) {
        for (std::int64_t chunk = 0; chunk < partials.chunks; ++chunk)
          reduce_tile<T>(stage, partials, partials.first + tile, chunk);
        finish_tile<T>(stage, partials, partials.first + tile);
      }
    return;
  }
  for (std::int64_t batch = 0; batch < stage.batch; ++batch) {
    if (bound.sweep == SweepKind::inner_reduction)
      reduce_lines<T>(stage, batch, 0, stage.outer);
    else
      for (std::int64_t outer = 0; outer < stage.outer; ++outer)
        evaluate_line<T>(stage, batch, outer, 0, stage.inner);
  }
}

}  // namespace detail
}  // namespace postlude

#endif
