#ifndef POSTLUDE_SWEEP_OUTER_REDUCTION_HPP
#define POSTLUDE_SWEEP_OUTER_REDUCTION_HPP

#include <Kokkos_Core.hpp>

#include "evaluator/evaluate.hpp"
#include "evaluator/reducers.hpp"
#include "plan/planned_stage.hpp"
#include "sweep/vector_width.hpp"

namespace postlude {
namespace detail {

/// Where the chunks of an outer reduction leave their states: partials[chunk][batch][inner].
struct Partials {
  ReductionState* states;
  std::int64_t batch;
  std::int64_t inner;

  KOKKOS_INLINE_FUNCTION ReductionState& at(std::int64_t chunk, std::int64_t b,
                                            std::int64_t i) const {
    return states[(chunk * batch + b) * inner + i];
  }
};

/// Lane i of an outer reduction has its own state.
template <class T, int width>
struct OuterSink {
  const Stage& stage;
  ReductionState* states;
  std::int64_t index;
  int count;

  POSTLUDE_FUNCTION void operator()(int, const T* values) const {
    reduction_accumulate<T, width>(stage.reductions[0].kind, stage.reductions[0].parameter, states,
                                   1, values, count, index, 0);
  }
};

/// One team reduces a chunk of lines over a tile of columns: each row of threads takes every eighth
/// line of the chunk, then the rows combine in order.
template <class Space, class T>
struct OuterReductionTeam {
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<ReductionState*, typename Space::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int width = vector_width<Space, T>();
  static constexpr int thread_columns = 32;
  static constexpr int thread_rows = 8;
  static constexpr int tile = thread_columns * width;

  Stage stage;
  Partials partials;
  std::int64_t chunks;
  std::int64_t lines;
  std::int64_t tiles;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t rank = member.league_rank();
    const std::int64_t tile_index = rank % tiles;
    const std::int64_t chunk = rank / tiles % chunks;
    const std::int64_t batch = rank / tiles / chunks;
    const int thread_column = member.team_rank() % thread_columns;
    const int thread_row = member.team_rank() / thread_columns;
    const StageReduction& reduction = stage.reductions[0];

    ReductionState states[width];
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane) states[lane] = reduction_identity<T>(reduction.kind);

    const std::int64_t inner = tile_index * tile + thread_column * width;
    const std::int64_t left = stage.inner - inner;
    const int count = left < width ? static_cast<int>(left > 0 ? left : 0) : width;
    const std::int64_t end = (chunk + 1) * lines < stage.outer ? (chunk + 1) * lines : stage.outer;
    if (count > 0) {
      for (std::int64_t outer = chunk * lines + thread_row; outer < end; outer += thread_rows)
        evaluate<T, width>(stage, Position{batch, outer, inner}, count,
                           OuterSink<T, width>{stage, states, outer, count});
    }

    const Scratch shared(member.team_scratch(0), thread_rows * tile);
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane)
      shared(thread_row * tile + thread_column * width + lane) = states[lane];
    member.team_barrier();
    for (int column = member.team_rank(); column < tile; column += thread_rows * thread_columns) {
      if (tile_index * tile + column >= stage.inner) continue;
      ReductionState state = shared(column);
      for (int row = 1; row < thread_rows; ++row)
        reduction_combine<T>(reduction.kind, reduction.parameter, state,
                             shared(row * tile + column));
      partials.at(chunk, batch, tile_index * tile + column) = state;
    }
  }

  static void launch(const Space& space, const Stage& stage, const Partials& partials) {
    const std::int64_t chunks = chunk_count(stage.outer);
    const std::int64_t tiles = (stage.inner + tile - 1) / tile;
    Policy policy(space, static_cast<int>(stage.batch * chunks * tiles),
                  thread_rows * thread_columns);
    policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(thread_rows * tile)));
    Kokkos::parallel_for(
        sweep_label<Space>("outer_reduction"),
        Kokkos::Experimental::require(policy,
                                      Kokkos::Experimental::WorkItemProperty::HintLightWeight),
        OuterReductionTeam{stage, partials, chunks, chunk_lines(stage.outer), tiles});
  }
};

/// One host thread reduces a chunk of lines over a tile of columns, whose states stay in cache.
template <class Space, class T>
struct OuterReductionTile {
  static constexpr int width = vector_width<Space, T>();
  static constexpr int tile = 8 * width;

  Stage stage;
  Partials partials;
  std::int64_t chunks;
  std::int64_t lines;
  std::int64_t tiles;

  void operator()(const std::int64_t item) const {
    const std::int64_t begin = item % tiles * tile;
    const std::int64_t chunk = item / tiles % chunks;
    const std::int64_t batch = item / tiles / chunks;
    const int columns = static_cast<int>(stage.inner - begin < tile ? stage.inner - begin : tile);
    const StageReduction& reduction = stage.reductions[0];

    ReductionState states[tile];
    for (int i = 0; i < columns; ++i) states[i] = reduction_identity<T>(reduction.kind);
    const std::int64_t end = (chunk + 1) * lines < stage.outer ? (chunk + 1) * lines : stage.outer;
    for (std::int64_t outer = chunk * lines; outer < end; ++outer) {
      for (int done = 0; done < columns; done += width) {
        const int count = columns - done < width ? columns - done : width;
        evaluate<T, width>(stage, Position{batch, outer, begin + done}, count,
                           OuterSink<T, width>{stage, states + done, outer, count});
      }
    }
    for (int i = 0; i < columns; ++i) partials.at(chunk, batch, begin + i) = states[i];
  }

  static void launch(const Space& space, const Stage& stage, const Partials& partials) {
    using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
    const std::int64_t chunks = chunk_count(stage.outer);
    const std::int64_t tiles = (stage.inner + tile - 1) / tile;
    Kokkos::parallel_for(
        sweep_label<Space>("outer_reduction"), Policy(space, 0, stage.batch * chunks * tiles),
        OuterReductionTile{stage, partials, chunks, chunk_lines(stage.outer), tiles});
  }
};

/// Combines the chunks' states in order and stores the results.
template <class T>
struct FinishBody {
  static constexpr int span = 1;

  Stage stage;
  Partials partials;
  std::int64_t chunks;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t batch, std::int64_t, std::int64_t inner,
                                         int) const {
    const StageReduction& reduction = stage.reductions[0];
    ReductionState state = partials.at(0, batch, inner);
    for (std::int64_t chunk = 1; chunk < chunks; ++chunk)
      reduction_combine<T>(reduction.kind, reduction.parameter, state,
                           partials.at(chunk, batch, inner));
    store_reduced<T>(stage, reduction, Position{batch, 0, inner}, state, stage.outer);
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
