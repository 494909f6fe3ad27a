#ifndef POSTLUDE_SWEEP_JOINED_SWEEP_HPP
#define POSTLUDE_SWEEP_JOINED_SWEEP_HPP

#include <Kokkos_Core.hpp>

#include "sweep/bound_stage.hpp"
#include "sweep/host_line.hpp"
#include "sweep/sweep_label.hpp"

namespace postlude {
namespace detail {

/// Joined stages, one after another on each line: one host thread for a line, which is in its cache
/// from the second stage on. softmax then reads its input from memory once instead of three times.
template <class T>
struct JoinedLines {
  const BoundStage* stages;
  std::size_t count;

  void operator()(const std::int64_t item) const {
    const std::int64_t lines = stages[0].stage.outer;
    const std::int64_t batch = item / lines;
    const std::int64_t outer = item - batch * lines;
    for (std::size_t i = 0; i < count; ++i) {
      const Stage& stage = stages[i].stage;
      if (stages[i].sweep == SweepKind::pointwise)
        evaluate_line<T>(stage, batch, outer, 0, stage.inner);
      else
        reduce_line<T>(stage, batch, outer);
    }
  }
};

/// Fewer lines would leave threads without work, which stages on their own can cut finer.
template <class Space>
bool has_line_for_every_thread(const Space& space, const Stage& stage) {
  return stage.batch * stage.outer >= space.concurrency();
}

/// Runs `count` joined stages; complete on return, since the stages are not copied.
template <class T, class Space>
void joined_sweep(const Space& space, const BoundStage* stages, std::size_t count) {
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  const Stage& first = stages[0].stage;
  Kokkos::parallel_for(sweep_label<Space>("joined"), Policy(space, 0, first.batch * first.outer),
                       JoinedLines<T>{stages, count});
  space.fence();
}

}  // namespace detail
}  // namespace postlude

#endif
