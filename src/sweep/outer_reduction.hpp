#ifndef POSTLUDE_SWEEP_OUTER_REDUCTION_HPP
#define POSTLUDE_SWEEP_OUTER_REDUCTION_HPP

#include <Kokkos_Core.hpp>

#include <postlude/detail/traversal.hpp>

#include "plan/planned_stage.hpp"
#include "sweep/device_body.hpp"
#include "sweep/grid.hpp"
#include "sweep/host_line.hpp"
#include "sweep/sweep_label.hpp"

namespace postlude {
namespace detail {

/// How a stage's outer reduction is cut into tiles of `tile` columns.
inline OuterCut outer_cut(const Stage& stage, int tile) {
  return {chunk_count(stage.outer), chunk_lines(stage.outer), (stage.inner + tile - 1) / tile};
}

/// One team for each chunk of lines and tile of columns.
template <class Space, class T>
struct OuterReductionTeam {
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<ReductionState*, typename Space::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int scratch_states = outer_thread_rows * outer_tile<T>();

  Stage stage;
  Partials partials;
  OuterCut cut;
  std::int64_t first_team;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const Scratch shared(member.team_scratch(0), scratch_states);
    outer_reduction_thread<T, InterpretedCode>(
        stage, partials, cut, first_team + member.league_rank(), member.team_rank(), shared.data(),
        [&] { member.team_barrier(); });
  }

  static void launch(const Space& space, const Stage& stage, const Partials& partials) {
    const OuterCut cut = outer_cut(stage, outer_tile<T>());
    const std::int64_t all = stage.batch * cut.chunks * cut.tiles;
    launch_in_parts(all, [&](std::int64_t first, std::int64_t teams) {
      Policy policy(space, static_cast<int>(teams), team_threads);
      policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(scratch_states)));
      Kokkos::parallel_for(sweep_label<Space>("outer_reduction"),
                           Kokkos::Experimental::require(
                               policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                           OuterReductionTeam{stage, partials, cut, first});
    });
  }
};

/// One host thread reduces a chunk of lines over a tile of columns, whose states stay in cache.
template <class Space, class T>
struct OuterReductionTile {
  static constexpr int tile = 8 * host_width;

  Stage stage;
  Partials partials;
  OuterCut cut;

  void operator()(const std::int64_t item) const {
    const std::int64_t begin = item % cut.tiles * tile;
    const std::int64_t chunk = item / cut.tiles % cut.chunks;
    const std::int64_t batch = item / cut.tiles / cut.chunks;
    const int columns = static_cast<int>(stage.inner - begin < tile ? stage.inner - begin : tile);

    ReductionState states[tile];
    for (int i = 0; i < columns; ++i) states[i] = reduction_identity<T>(stage.reductions[0].kind);
    const std::int64_t next_chunk = (chunk + 1) * cut.lines;
    const std::int64_t end = next_chunk < stage.outer ? next_chunk : stage.outer;
    for (std::int64_t outer = chunk * cut.lines; outer < end; ++outer) {
      for (int done = 0; done < columns; done += host_width) {
        const Span span{batch, outer, begin + done, outer + 1, stage.inner, 0, 0};
        evaluate<T, 1, host_width, InterpretedCode>(
            stage, span, OuterSink<T, 1, host_width, InterpretedCode>{stage, states + done, span});
      }
    }
    for (int i = 0; i < columns; ++i) partials.at(chunk, batch, begin + i) = states[i];
  }

  static void launch(const Space& space, const Stage& stage, const Partials& partials) {
    using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
    const OuterCut cut = outer_cut(stage, tile);
    Kokkos::parallel_for(sweep_label<Space>("outer_reduction"),
                         Policy(space, 0, stage.batch * cut.chunks * cut.tiles),
                         OuterReductionTile{stage, partials, cut});
  }
};

template <class T>
struct FinishBody {
  static constexpr int span = 1;

  Stage stage;
  Partials partials;
  std::int64_t chunks;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t batch, std::int64_t, std::int64_t inner,
                                         int) const {
    finish_outer_reduction<T, InterpretedCode>(stage, partials, chunks, batch, inner);
  }
};

template <class T, class Space>
void outer_reduction_sweep(const Space& space, const Stage& stage, ReductionState* states) {
  if (stage.batch * stage.inner == 0) return;
  const Partials partials{states, stage.batch, stage.inner};
  if constexpr (is_device_space<Space>())
    OuterReductionTeam<Space, T>::launch(space, stage, partials);
  else
    OuterReductionTile<Space, T>::launch(space, stage, partials);
  traverse(space, sweep_label<Space>("outer_reduction_finish"), stage.batch, 1, stage.inner,
           FinishBody<T>{stage, partials, chunk_count(stage.outer)});
}

}  // namespace detail
}  // namespace postlude

#endif
