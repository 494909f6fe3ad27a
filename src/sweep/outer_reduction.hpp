#ifndef POSTLUDE_SWEEP_OUTER_REDUCTION_HPP
#define POSTLUDE_SWEEP_OUTER_REDUCTION_HPP

#include <Kokkos_Core.hpp>

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

/// Lane i of a packet has its own state; packets are lines.
template <class T, int packets, int width, class Code>
struct OuterSink {
  const Stage& stage;
  ReductionState* states;
  const Span& span;

  POSTLUDE_FUNCTION void operator()(int, const T* values) const {
    reduction_accumulate<T, packets, width>(Code::kind(stage, 0), stage.reductions[0].parameter,
                                            LaneTargets{states, 1, span.outer, span.outer_step, 0},
                                            values, span);
  }
};

/// One team reduces a chunk of lines over a tile of columns: each row of threads takes every eighth
/// line of the chunk, then the rows combine in order.
template <class Space, class T, class Code>
struct OuterReductionTeam {
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<ReductionState*, typename Space::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int packets = 4;
  static constexpr int width = packet_width<Space, T>();
  static constexpr int thread_rows = 8;
  static constexpr int tile = warp_threads * width;

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
    const int thread_column = member.team_rank() % warp_threads;
    const int thread_row = member.team_rank() / warp_threads;
    const StageReduction& reduction = stage.reductions[0];

    ReductionState states[width];
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane)
      states[lane] = reduction_identity<T>(Code::kind(stage, 0));

    const std::int64_t inner = tile_index * tile + thread_column * width;
    const std::int64_t next_chunk = (chunk + 1) * lines;
    const std::int64_t end = next_chunk < stage.outer ? next_chunk : stage.outer;
    if (inner < stage.inner) {
      for (std::int64_t outer = chunk * lines + thread_row; outer < end;
           outer += thread_rows * packets) {
        const Span span{batch, outer, inner, end, stage.inner, thread_rows, 0};
        evaluate<T, packets, width, Code>(stage, span,
                                          OuterSink<T, packets, width, Code>{stage, states, span});
      }
    }

    const Scratch shared(member.team_scratch(0), thread_rows * tile);
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane)
      shared(thread_row * tile + thread_column * width + lane) = states[lane];
    member.team_barrier();
    for (int column = member.team_rank(); column < tile; column += thread_rows * warp_threads) {
      if (tile_index * tile + column >= stage.inner) continue;
      ReductionState state = shared(column);
      for (int row = 1; row < thread_rows; ++row)
        reduction_combine<T>(Code::kind(stage, 0), reduction.parameter, state,
                             shared(row * tile + column));
      partials.at(chunk, batch, tile_index * tile + column) = state;
    }
  }

  static void launch(const Space& space, const Stage& stage, const Partials& partials) {
    const std::int64_t chunks = chunk_count(stage.outer);
    const std::int64_t tiles = (stage.inner + tile - 1) / tile;
    Policy policy(space, static_cast<int>(stage.batch * chunks * tiles),
                  thread_rows * warp_threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(thread_rows * tile)));
    Kokkos::parallel_for(
        sweep_label<Space>("outer_reduction"),
        Kokkos::Experimental::require(policy,
                                      Kokkos::Experimental::WorkItemProperty::HintLightWeight),
        OuterReductionTeam{stage, partials, chunks, chunk_lines(stage.outer), tiles});
  }
};

/// One host thread reduces a chunk of lines over a tile of columns, whose states stay in cache.
template <class Space, class T, class Code>
struct OuterReductionTile {
  static constexpr int width = packet_width<Space, T>();
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

    ReductionState states[tile];
    for (int i = 0; i < columns; ++i) states[i] = reduction_identity<T>(Code::kind(stage, 0));
    const std::int64_t end = (chunk + 1) * lines < stage.outer ? (chunk + 1) * lines : stage.outer;
    for (std::int64_t outer = chunk * lines; outer < end; ++outer) {
      for (int done = 0; done < columns; done += width) {
        const Span span{batch, outer, begin + done, outer + 1, stage.inner, 0, 0};
        evaluate<T, 1, width, Code>(stage, span,
                                    OuterSink<T, 1, width, Code>{stage, states + done, span});
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
template <class T, class Code>
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
      reduction_combine<T>(Code::kind(stage, 0), reduction.parameter, state,
                           partials.at(chunk, batch, inner));
    store_reduced<T, Code>(stage, 0, batch, 0, inner, state, stage.outer);
  }
};

template <class T, class Code, class Space>
void outer_reduction_sweep(const Space& space, const Stage& stage, ReductionState* states) {
  if (stage.batch * stage.inner == 0) return;
  const Partials partials{states, stage.batch, stage.inner};
  if constexpr (is_device_space<Space>())
    OuterReductionTeam<Space, T, Code>::launch(space, stage, partials);
  else
    OuterReductionTile<Space, T, Code>::launch(space, stage, partials);
  traverse(space, sweep_label<Space>("outer_reduction_finish"), stage.batch, 1, stage.inner,
           FinishBody<T, Code>{stage, partials, chunk_count(stage.outer)});
}

}  // namespace detail
}  // namespace postlude

#endif
