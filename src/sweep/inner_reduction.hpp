#ifndef POSTLUDE_SWEEP_INNER_REDUCTION_HPP
#define POSTLUDE_SWEEP_INNER_REDUCTION_HPP

#include <Kokkos_Core.hpp>

#include <postlude/detail/traversal.hpp>

#include "sweep/device_body.hpp"
#include "sweep/sweep_label.hpp"

namespace postlude {
namespace detail {

/// One team for each line.
template <class Space, class T>
struct InnerReductionTeam {
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<ReductionState*, typename Space::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Stage stage;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const Scratch shared(member.team_scratch(0), team_threads);
    inner_reduction_thread<T, InterpretedCode>(stage, member.league_rank(), member.team_rank(),
                                               shared.data(), [&] { member.team_barrier(); });
  }

  static void launch(const Space& space, const Stage& stage) {
    Policy policy(space, static_cast<int>(stage.batch * stage.outer), team_threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(team_threads)));
    Kokkos::parallel_for(sweep_label<Space>("inner_reduction"),
                         Kokkos::Experimental::require(
                             policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                         InnerReductionTeam{stage});
  }
};

/// Reduces each line with one host thread, block by block.
template <class Space, class T>
struct InnerReductionLine {
  struct Sink {
    const Stage& stage;
    ReductionState* states;
    const Span& span;

    POSTLUDE_FUNCTION void operator()(int target, const T* values) const {
      const StageReduction& reduction = stage.reductions[target];
      reduction_accumulate_block(reduction.kind, reduction.parameter, states[target], values,
                                 span.count(0, host_width), span.inner);
    }
  };

  Stage stage;

  void operator()(const std::int64_t item) const {
    const std::int64_t batch = item / stage.outer;
    const std::int64_t outer = item - batch * stage.outer;
    ReductionState states[maximum_reductions];
    for (int i = 0; i < stage.reduction_count; ++i)
      states[i] = reduction_identity<T>(stage.reductions[i].kind);
    for (std::int64_t inner = 0; inner < stage.inner; inner += host_width) {
      const Span span{batch, outer, inner, outer + 1, stage.inner, 0, 0};
      evaluate<T, 1, host_width, InterpretedCode>(stage, span, Sink{stage, states, span});
    }
    for (int i = 0; i < stage.reduction_count; ++i)
      store_reduced<T, InterpretedCode>(stage, i, batch, outer, 0, states[i], stage.inner);
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
