#ifndef POSTLUDE_SWEEP_INNER_REDUCTION_HPP
#define POSTLUDE_SWEEP_INNER_REDUCTION_HPP

#include <Kokkos_Core.hpp>

#include <postlude/detail/traversal.hpp>

#include "evaluator/quotient_up.hpp"
#include "sweep/device_body.hpp"
#include "sweep/grid.hpp"
#include "sweep/host_line.hpp"
#include "sweep/sweep_label.hpp"

namespace postlude {
namespace detail {

/// Teams of threads for lines.
template <class Space, class T>
struct InnerReductionTeam {
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<ReductionState*, typename Space::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Stage stage;
  std::int64_t first_team;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const Scratch shared(member.team_scratch(0), team_threads);
    inner_reduction_thread<T, reduction_packets, InterpretedCode>(
        stage, first_team + member.league_rank(), member.team_rank(), shared.data(),
        [&] { member.team_barrier(); });
  }

  static void launch(const Space& space, const Stage& stage) {
    launch_in_parts(line_teams<T>(stage), [&](std::int64_t first, std::int64_t teams) {
      Policy policy(space, static_cast<int>(teams), team_threads);
      policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(team_threads)));
      Kokkos::parallel_for(sweep_label<Space>("inner_reduction"),
                           Kokkos::Experimental::require(
                               policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                           InnerReductionTeam{stage, first});
    });
  }
};

/// One host thread for each line, or for several short ones.
template <class Space, class T>
struct InnerReductionLine {
  Stage stage;
  std::int64_t lines;  ///< of an item
  std::int64_t items;  ///< of a batch

  void operator()(const std::int64_t item) const {
    const std::int64_t batch = item / items;
    const std::int64_t begin = (item - batch * items) * lines;
    reduce_lines<T>(stage, batch, begin, std::min(begin + lines, stage.outer));
  }

  static void launch(const Space& space, const Stage& stage) {
    using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
    const std::int64_t lines = lines_at_once(stage);
    const std::int64_t items = quotient_up(stage.outer, lines);
    Kokkos::parallel_for(sweep_label<Space>("inner_reduction"),
                         Policy(space, 0, stage.batch * items),
                         InnerReductionLine{stage, lines, items});
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
