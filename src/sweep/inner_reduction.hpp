#ifndef POSTLUDE_SWEEP_INNER_REDUCTION_HPP
#define POSTLUDE_SWEEP_INNER_REDUCTION_HPP

#include <Kokkos_Core.hpp>

#include "sweep/vector_width.hpp"

namespace postlude {
namespace detail {

/// States of one thread for all reductions of a stage.
template <class T, int packets, int width, class Code>
struct InnerSink {
  const Stage& stage;
  ReductionState (&states)[maximum_reductions];
  const Span& span;

  POSTLUDE_FUNCTION void operator()(int target, const T* lanes) const {
    // Selecting by comparison keeps the states in registers on a device; one copy of the code for
    // all reductions keeps the kernel small.
    ReductionState state = states[0];
    POSTLUDE_UNROLL
    for (int i = 1; i < maximum_reductions; ++i)
      if (i == target) state = states[i];
    reduction_accumulate<T, packets, width>(
        Code::kind(stage, target), stage.reductions[target].parameter,
        LaneTargets{&state, 0, span.inner, span.inner_step, 1}, lanes, span);
    POSTLUDE_UNROLL
    for (int i = 0; i < maximum_reductions; ++i)
      if (i == target) states[i] = state;
  }
};

/// Reduces each line along the inner dimension with one team, whose threads take interleaved
/// packets and then combine their states in a tree of fixed shape.
template <class Space, class T, class Code>
struct InnerReductionTeam {
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<ReductionState*, typename Space::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int packets = 4;
  static constexpr int width = packet_width<Space, T>();
  static constexpr int team_size = 256;

  Stage stage;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t batch = member.league_rank() / stage.outer;
    const std::int64_t outer = member.league_rank() - batch * stage.outer;
    const int rank = member.team_rank();
    ReductionState states[maximum_reductions];
    POSTLUDE_UNROLL
    for (int i = 0; i < maximum_reductions; ++i)
      states[i] = reduction_identity<T>(Code::kind(stage, i));

    for (std::int64_t inner = static_cast<std::int64_t>(rank) * width; inner < stage.inner;
         inner += team_size * width * packets) {
      const Span span{batch, outer, inner, outer + 1, stage.inner, 0, team_size * width};
      evaluate<T, packets, width, Code>(stage, span,
                                        InnerSink<T, packets, width, Code>{stage, states, span});
    }

    const Scratch shared(member.team_scratch(0), team_size);
    POSTLUDE_UNROLL
    for (int i = 0; i < maximum_reductions; ++i) {
      if (i >= stage.reduction_count) continue;
      const StageReduction& reduction = stage.reductions[i];
      member.team_barrier();
      shared(rank) = states[i];
      for (int step = team_size / 2; step > 0; step /= 2) {
        member.team_barrier();
        if (rank < step)
          reduction_combine<T>(Code::kind(stage, i), reduction.parameter, shared(rank),
                               shared(rank + step));
      }
      if (rank == 0) store_reduced<T, Code>(stage, i, batch, outer, 0, shared(0), stage.inner);
    }
  }

  static void launch(const Space& space, const Stage& stage) {
    const auto lines = static_cast<int>(stage.batch * stage.outer);
    Policy policy(space, lines, team_size);
    policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(team_size)));
    Kokkos::parallel_for(sweep_label<Space>("inner_reduction"),
                         Kokkos::Experimental::require(
                             policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                         InnerReductionTeam{stage});
  }
};

/// Reduces each line with one host thread. `lanes` independent states break the chain of dependent
/// additions, and are combined in order at the end of the line.
template <class Space, class T, class Code>
struct InnerReductionLine {
  static constexpr int width = packet_width<Space, T>();
  static constexpr int lanes = 8;

  struct Sink {
    const Stage& stage;
    ReductionState (*states)[lanes];
    const Span& span;

    POSTLUDE_FUNCTION void operator()(int target, const T* values) const {
      const StageReduction& reduction = stage.reductions[target];
      const int count = span.count(0, width);
      Span part = span;
      for (int begin = 0; begin < count; begin += lanes) {
        part.inner = span.inner + begin;
        reduction_accumulate<T, 1, lanes>(Code::kind(stage, target), reduction.parameter,
                                          LaneTargets{states[target], 1, part.inner, 0, 1},
                                          values + begin, part);
      }
    }
  };

  Stage stage;

  void operator()(const std::int64_t item) const {
    const std::int64_t batch = item / stage.outer;
    const std::int64_t outer = item - batch * stage.outer;
    ReductionState states[maximum_reductions][lanes];
    for (int i = 0; i < stage.reduction_count; ++i)
      for (ReductionState& state : states[i]) state = reduction_identity<T>(Code::kind(stage, i));

    for (std::int64_t inner = 0; inner < stage.inner; inner += width) {
      const Span span{batch, outer, inner, outer + 1, stage.inner, 0, 0};
      evaluate<T, 1, width, Code>(stage, span, Sink{stage, states, span});
    }

    for (int i = 0; i < stage.reduction_count; ++i) {
      const StageReduction& reduction = stage.reductions[i];
      for (int lane = 1; lane < lanes; ++lane)
        reduction_combine<T>(Code::kind(stage, i), reduction.parameter, states[i][0],
                             states[i][lane]);
      store_reduced<T, Code>(stage, i, batch, outer, 0, states[i][0], stage.inner);
    }
  }

  static void launch(const Space& space, const Stage& stage) {
    using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(sweep_label<Space>("inner_reduction"),
                         Policy(space, 0, stage.batch * stage.outer), InnerReductionLine{stage});
  }
};

template <class T, class Code, class Space>
void inner_reduction_sweep(const Space& space, const Stage& stage) {
  if (stage.batch * stage.outer == 0) return;
  if constexpr (is_device_space<Space>())
    InnerReductionTeam<Space, T, Code>::launch(space, stage);
  else
    InnerReductionLine<Space, T, Code>::launch(space, stage);
}

}  // namespace detail
}  // namespace postlude

#endif
