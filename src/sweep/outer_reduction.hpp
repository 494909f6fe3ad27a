#ifndef POSTLUDE_SWEEP_OUTER_REDUCTION_HPP
#define POSTLUDE_SWEEP_OUTER_REDUCTION_HPP

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <type_traits>

#include <postlude/detail/traversal.hpp>

#include "evaluator/quotient_up.hpp"
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

/// The partial results of the tiles that a host has at hand: states[tile][chunk][column].
struct HostPartials {
  ReductionState* states;
  HostTiles tiles;
  std::int64_t tiles_of_line;
  std::int64_t chunks;
  std::int64_t first;  ///< tile at hand

  HostPartials(const Stage& stage, ReductionState* memory)
      : states(memory),
        tiles(host_tiles(stage)),
        tiles_of_line((stage.inner + host_tile_columns - 1) / host_tile_columns),
        chunks(chunk_count(stage.outer)),
        first(0) {}

  std::int64_t at_hand() const { return std::min(tiles.at_once, tiles.count - first); }
  std::int64_t batch_of(std::int64_t tile) const { return tile / tiles_of_line; }
  std::int64_t column_of(std::int64_t tile) const {
    return tile % tiles_of_line * host_tile_columns;
  }
  ReductionState* of(std::int64_t tile, std::int64_t chunk) const {
    return states + ((tile - first) * chunks + chunk) * tiles.columns;
  }
};

/// Calls function(reducer) with the reducer of `kind`, an empty object.
template <class T, class Function>
void with_reducer(Reduction kind, const Function& function) {
  switch (kind) {
#define POSTLUDE_CASE(name, parameter, fallback, formula) \
  case Reduction::name:                                   \
    return function(Reducer<T, Reduction::name>());
    POSTLUDE_REDUCTIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
  }
}

/// The states of a host's tile of columns. Plain sums and choices are kept as numbers until the
/// last line, since loops over states do not become SIMD instructions; the result is the same, bit
/// for bit.
template <class T>
class HostTileStates {
 public:
  HostTileStates(Reduction kind, std::int64_t columns) {
    // Blocks take lanes without an element along.
    const std::int64_t lanes = quotient_up(columns, host_width) * host_width;
    with_reducer<T>(kind, [&](auto reducer) {
      using R = decltype(reducer);
      if constexpr (FoldsLanes<R>::value)
        std::fill(chosen_, chosen_ + lanes, R::fold_start());
      else if constexpr (is_plain_sum<R>)
        std::fill(totals_, totals_ + lanes, 0.0);
      else
        std::fill(states_, states_ + lanes, R::identity());
    });
  }

  /// Takes a block of a line, from column `begin` of the tile on.
  void take(const StageReduction& reduction, std::int64_t begin, const T* values,
            const Span& span) {
    with_reducer<T>(reduction.kind, [&](auto reducer) {
      using R = decltype(reducer);
      // Lanes without an element are unspecified, and stay out of the results.
      if constexpr (FoldsLanes<R>::value)
        for (int lane = 0; lane < host_width; ++lane)
          chosen_[begin + lane] = R::fold(chosen_[begin + lane], values[lane]);
      else if constexpr (is_plain_sum<R>)
        for (int lane = 0; lane < host_width; ++lane)
          totals_[begin + lane] += static_cast<double>(values[lane]);
      else
        accumulate_lanes<R, T, 1, host_width>(
            LaneTargets{states_ + begin, 1, span.outer, span.outer_step, 0}, values, span,
            reduction.parameter);
    });
  }

  void finish(Reduction kind, std::int64_t columns, ReductionState* to) const {
    with_reducer<T>(kind, [&](auto reducer) {
      using R = decltype(reducer);
      for (std::int64_t i = 0; i < columns; ++i) {
        to[i] = R::identity();
        if constexpr (FoldsLanes<R>::value)
          R::accumulate_folded(to[i], chosen_[i]);
        else if constexpr (is_plain_sum<R>)
          to[i].first = totals_[i];
        else
          to[i] = states_[i];
      }
    });
  }

 private:
  /// One whose state is a float64 number and no more.
  template <class R>
  static constexpr bool is_plain_sum = std::is_base_of<SumReducer<T>, R>::value &&
                                       sizeof(T) < sizeof(double);

  // Of these the reduction uses one.
  T chosen_[host_tile_columns];
  double totals_[host_tile_columns];
  ReductionState states_[host_tile_columns];
};

template <class T>
struct HostTileSink {
  const Stage& stage;
  HostTileStates<T>& states;
  std::int64_t begin;
  const Span& span;

  void operator()(int, const T* values) const {
    states.take(stage.reductions[0], begin, values, span);
  }
};

/// Reduces a chunk of lines over a tile of columns, whose states stay in cache.
template <class T>
void reduce_tile(const Stage& stage, const HostPartials& partials, std::int64_t tile,
                 std::int64_t chunk) {
  static_assert(host_tile_columns % host_width == 0, "blocks fill a tile");
  const std::int64_t batch = partials.batch_of(tile);
  const std::int64_t begin = partials.column_of(tile);
  const std::int64_t columns = std::min(stage.inner - begin, host_tile_columns);
  HostTileStates<T> states(stage.reductions[0].kind, columns);
  const std::int64_t lines = chunk_lines(stage.outer);
  const std::int64_t end = std::min((chunk + 1) * lines, stage.outer);
  for (std::int64_t outer = chunk * lines; outer < end; ++outer) {
    for (std::int64_t done = 0; done < columns; done += host_width) {
      const Span span{batch, outer, begin + done, outer + 1, stage.inner, 0, 0};
      evaluate<T, 1, host_width, InterpretedCode>(stage, span,
                                                  HostTileSink<T>{stage, states, done, span});
    }
  }
  states.finish(stage.reductions[0].kind, columns, partials.of(tile, chunk));
}

/// Combines the chunks' states of a tile in order and stores the results.
template <class T>
void finish_tile(const Stage& stage, const HostPartials& partials, std::int64_t tile) {
  const std::int64_t begin = partials.column_of(tile);
  const std::int64_t columns = std::min(stage.inner - begin, host_tile_columns);
  const StageReduction& reduction = stage.reductions[0];
  for (std::int64_t i = 0; i < columns; ++i) {
    ReductionState state = partials.of(tile, 0)[i];
    for (std::int64_t chunk = 1; chunk < partials.chunks; ++chunk)
      reduction_combine<T>(reduction.kind, reduction.parameter, state, partials.of(tile, chunk)[i]);
    store_reduced<T, InterpretedCode>(stage, 0, partials.batch_of(tile), 0, begin + i, state,
                                      stage.outer);
  }
}

/// One host thread for each chunk of each tile.
template <class T>
struct OuterReductionTile {
  Stage stage;
  HostPartials partials;

  void operator()(const std::int64_t item) const {
    reduce_tile<T>(stage, partials, partials.first + item / partials.chunks,
                   item % partials.chunks);
  }
};

template <class T>
struct OuterReductionFinish {
  Stage stage;
  HostPartials partials;

  void operator()(const std::int64_t item) const {
    finish_tile<T>(stage, partials, partials.first + item);
  }
};

template <class T, class Space>
void outer_reduction_on_host(const Space& space, const Stage& stage, ReductionState* states) {
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  HostPartials partials(stage, states);
  for (; partials.first < partials.tiles.count; partials.first += partials.tiles.at_once) {
    const std::int64_t tiles = partials.at_hand();
    Kokkos::parallel_for(sweep_label<Space>("outer_reduction"),
                         Policy(space, 0, tiles * partials.chunks),
                         OuterReductionTile<T>{stage, partials});
    Kokkos::parallel_for(sweep_label<Space>("outer_reduction_finish"), Policy(space, 0, tiles),
                         OuterReductionFinish<T>{stage, partials});
  }
}

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
  if constexpr (is_device_space<Space>()) {
    const Partials partials{states, stage.batch, stage.inner};
    OuterReductionTeam<Space, T>::launch(space, stage, partials);
    traverse(space, sweep_label<Space>("outer_reduction_finish"), stage.batch, 1, stage.inner,
             FinishBody<T>{stage, partials, chunk_count(stage.outer)});
  } else {
    outer_reduction_on_host<T>(space, stage, states);
  }
}

}  // namespace detail
}  // namespace postlude

#endif
