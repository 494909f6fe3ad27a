#ifndef POSTLUDE_SWEEP_INNER_REDUCTION_HPP
#define POSTLUDE_SWEEP_INNER_REDUCTION_HPP

#include <Kokkos_Core.hpp>

#include "evaluator/evaluate.hpp"
#include "evaluator/reducers.hpp"
#include "sweep/vector_width.hpp"

namespace postlude {
namespace detail {

/// States of one thread for all reductions of a stage.
template <class T, int width>
struct InnerSink {
  const Stage& stage;
  ReductionState* states;
  std::int64_t first_index;
  int count;

  POSTLUDE_FUNCTION void operator()(int target, const T* lanes) const {
    // Selecting by comparison keeps the states in registers on a device.
    POSTLUDE_UNROLL
    for (int reduction = 0; reduction < maximum_reductions; ++reduction) {
      if (reduction != target) continue;
      reduction_accumulate<T, width>(stage.reductions[reduction].kind,
                                     stage.reductions[reduction].parameter, &states[reduction], 0,
                                     lanes, count, first_index, 1);
    }
  }
};

/// Reduces each line along the inner dimension with one team, whose threads take interleaved
/// vectors and then combine their states in a tree of fixed shape.
template <class Space, class T>
struct InnerReductionTeam {
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<ReductionState*, typename Space::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int width = vector_width<Space, T>();
  static constexpr int team_size = 256;

  Stage stage;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const Position line{member.league_rank() / stage.outer, member.league_rank() % stage.outer, 0};
    const int rank = member.team_rank();
    ReductionState states[maximum_reductions];
    POSTLUDE_UNROLL
    for (int i = 0; i < maximum_reductions; ++i)
      states[i] = reduction_identity<T>(stage.reductions[i].kind);

    for (std::int64_t inner = static_cast<std::int64_t>(rank) * width; inner < stage.inner;
         inner += static_cast<std::int64_t>(team_size) * width) {
      const std::int64_t left = stage.inner - inner;
      const int count = left < width ? static_cast<int>(left) : width;
      evaluate<T, width>(stage, Position{line.batch, line.outer, inner}, count,
                         InnerSink<T, width>{stage, states, inner, count});
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
          reduction_combine<T>(reduction.kind, reduction.parameter, shared(rank),
                               shared(rank + step));
      }
      if (rank == 0) store_reduced<T>(stage, reduction, line, shared(0), stage.inner);
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
template <class Space, class T>
struct InnerReductionLine {
  static constexpr int width = vector_width<Space, T>();
  static constexpr int lanes = 8;

  struct Sink {
    const Stage& stage;
    ReductionState (*states)[lanes];
    std::int64_t first_index;
    int count;

    POSTLUDE_FUNCTION void operator()(int target, const T* values) const {
      const StageReduction& reduction = stage.reductions[target];
      for (int begin = 0; begin < count; begin += lanes)
        reduction_accumulate<T, lanes>(
            reduction.kind, reduction.parameter, states[target], 1, values + begin,
            count - begin < lanes ? count - begin : lanes, first_index + begin, 1);
    }
  };

  Stage stage;

  void operator()(const std::int64_t item) const {
    const Position line{item / stage.outer, item % stage.outer, 0};
    ReductionState states[maximum_reductions][lanes];
    for (int i = 0; i < stage.reduction_count; ++i)
      for (ReductionState& state : states[i])
        state = reduction_identity<T>(stage.reductions[i].kind);

    for (std::int64_t inner = 0; inner < stage.inner; inner += width) {
      const std::int64_t left = stage.inner - inner;
      const int count = left < width ? static_cast<int>(left) : width;
      evaluate<T, width>(stage, Position{line.batch, line.outer, inner}, count,
                         Sink{stage, states, inner, count});
    }

    for (int i = 0; i < stage.reduction_count; ++i) {
      const StageReduction& reduction = stage.reductions[i];
      for (int lane = 1; lane < lanes; ++lane)
        reduction_combine<T>(reduction.kind, reduction.parameter, states[i][0], states[i][lane]);
      store_reduced<T>(stage, reduction, line, states[i][0], stage.inner);
    }
  }

  static void launch(const Space& space, const Stage& stage) {
    using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(sweep_label<Space>("inner_reduction"),
                         Policy(space, 0, stage.batch * stage.outer), InnerReductionLine{stage});
  }
};

template <class T, class Space>
void inner_reduction_sweep(const Space& space, const Stage& stage) {
  if (stage.batch * stage.outer == 0) return;
  if constexpr (is_device_space<Space>())
    InnerReductionTeam<Space, T>::launch(space, stage);
  else
    InnerReductionLine<Space, T>::launch(space, stage);
}

}  // namespace detail
}  // namespace postlude

#endif
