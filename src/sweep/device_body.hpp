#ifndef POSTLUDE_SWEEP_DEVICE_BODY_HPP
#define POSTLUDE_SWEEP_DEVICE_BODY_HPP

#include "evaluator/evaluate.hpp"
#include "evaluator/quotient.hpp"
#include "evaluator/reducers.hpp"
#include "evaluator/sinks.hpp"
#include "evaluator/stage.hpp"

namespace postlude {
namespace detail {

// What a thread of a device does in each sweep, without Kokkos or CUDA headers: the Kokkos kernels
// and the kernels that are compiled at run time are thin frames around these functions.

/// Threads whose packets lie side by side, so that one access of a warp is contiguous.
constexpr int warp_threads = 32;
/// Threads of a team that reduces.
constexpr int team_threads = 256;
/// Packets that a thread of a reduction takes at a time.
constexpr int reduction_packets = 4;
/// Rows of threads in a team that reduces across lines.
constexpr int outer_thread_rows = team_threads / warp_threads;

/// Elements of a packet in T: as many as one 16-byte access moves.
template <class T>
POSTLUDE_FUNCTION constexpr int device_width() {
  return 16 / static_cast<int>(sizeof(T));
}

/// Thread `item` of a pointwise sweep takes `packets` packets, a warp's width apart. A line has
/// `segments` segments, each of one warp.
template <class T, int packets, class Code>
POSTLUDE_FUNCTION void pointwise_thread(const Stage& stage, std::int64_t segments,
                                        std::int64_t item) {
  if (!stage.condition.holds()) return;
  constexpr int width = device_width<T>();
  const std::int64_t warp = item / warp_threads;
  const std::int64_t line = quotient(warp, segments);
  Span span;
  span.batch = line < stage.outer ? 0 : quotient(line, stage.outer);
  span.outer = line - span.batch * stage.outer;
  span.inner =
      (warp - line * segments) * (warp_threads * width * packets) + item % warp_threads * width;
  span.outer_end = stage.outer;
  span.inner_end = stage.inner;
  span.inner_step = warp_threads * width;
  if (span.batch < stage.batch && span.inner < span.inner_end)
    evaluate<T, packets, width, Code>(stage, span, NoSink());
}

/// Threads of a team that share one line: as few as take it in one go, a power of two, so that the
/// windows of a pooling do not have a team each.
template <class T>
POSTLUDE_FUNCTION constexpr int line_threads(std::int64_t inner) {
  int threads = 1;
  while (threads < team_threads &&
         static_cast<std::int64_t>(threads) * device_width<T>() * reduction_packets < inner)
    threads *= 2;
  return threads;
}

/// Teams for all lines of a stage that reduces along the inner dimension.
template <class T>
POSTLUDE_FUNCTION constexpr std::int64_t line_teams(const Stage& stage) {
  const std::int64_t lines_of_team = team_threads / line_threads<T>(stage.inner);
  return (stage.batch * stage.outer + lines_of_team - 1) / lines_of_team;
}

/// A team reduces lines along the inner dimension, as many as it has threads for: those of a line
/// take interleaved packets, `packets` at a time, then combine their states in a tree of fixed
/// shape. `shared` has team_threads states.
template <class T, int packets, class Code, class Barrier>
POSTLUDE_FUNCTION void inner_reduction_thread(const Stage& stage, std::int64_t team, int rank,
                                              ReductionState* shared, const Barrier& barrier) {
  if (!stage.condition.holds()) return;
  constexpr int width = device_width<T>();
  const int threads = line_threads<T>(stage.inner);
  const int place = rank & (threads - 1);
  const std::int64_t line = team * (team_threads / threads) + rank / threads;
  const std::int64_t batch = line < stage.outer ? 0 : quotient(line, stage.outer);
  const std::int64_t outer = line - batch * stage.outer;
  const bool has_line = batch < stage.batch;
  ReductionState states[maximum_reductions];
  POSTLUDE_UNROLL
  for (int i = 0; i < maximum_reductions; ++i)
    states[i] = reduction_identity<T>(Code::kind(stage, i));

  const std::int64_t end = has_line ? stage.inner : 0;
  for (std::int64_t inner = static_cast<std::int64_t>(place) * width; inner < end;
       inner += static_cast<std::int64_t>(threads) * width * packets) {
    const Span span{batch, outer, inner, outer + 1, stage.inner, 0, threads * width};
    evaluate<T, packets, width, Code>(stage, span,
                                      InnerSink<T, packets, width, Code>{stage, states, span});
  }

  POSTLUDE_UNROLL
  for (int i = 0; i < maximum_reductions; ++i) {
    if (i >= Code::reductions(stage)) continue;
    if (threads > 1) {
      barrier();
      shared[rank] = states[i];
      for (int step = threads / 2; step > 0; step /= 2) {
        barrier();
        if (place < step)
          reduction_combine<T>(Code::kind(stage, i), stage.reductions[i].parameter, shared[rank],
                               shared[rank + step]);
      }
      if (place == 0) states[i] = shared[rank];
    }
    if (place == 0 && has_line)
      store_reduced<T, Code>(stage, i, batch, outer, 0, states[i], stage.inner);
  }
}

/// How an outer reduction is cut: chunks of `lines` lines, tiles of columns.
struct OuterCut {
  std::int64_t chunks;
  std::int64_t lines;
  std::int64_t tiles;
};

/// Columns that a team reduces at a time.
template <class T>
POSTLUDE_FUNCTION constexpr int outer_tile() {
  return warp_threads * device_width<T>();
}

/// A team reduces a chunk of lines over a tile of columns: each row of threads takes every eighth
/// line of the chunk, then the rows combine in order. `shared` has outer_thread_rows *
/// outer_tile<T>() states.
template <class T, class Code, class Barrier>
POSTLUDE_FUNCTION void outer_reduction_thread(const Stage& stage, const Partials& partials,
                                              const OuterCut& cut, std::int64_t team, int rank,
                                              ReductionState* shared, const Barrier& barrier) {
  if (!stage.condition.holds()) return;
  constexpr int width = device_width<T>();
  constexpr int tile = outer_tile<T>();
  const std::int64_t row_of_tiles = quotient(team, cut.tiles);
  const std::int64_t tile_index = team - row_of_tiles * cut.tiles;
  const std::int64_t batch = quotient(row_of_tiles, cut.chunks);
  const std::int64_t chunk = row_of_tiles - batch * cut.chunks;
  const int thread_column = rank % warp_threads;
  const int thread_row = rank / warp_threads;
  const Reduction kind = Code::kind(stage, 0);

  ReductionState states[width];
  POSTLUDE_UNROLL
  for (int lane = 0; lane < width; ++lane) states[lane] = reduction_identity<T>(kind);

  const std::int64_t inner = tile_index * tile + thread_column * width;
  const std::int64_t next_chunk = (chunk + 1) * cut.lines;
  const std::int64_t end = next_chunk < stage.outer ? next_chunk : stage.outer;
  if (inner < stage.inner) {
    for (std::int64_t outer = chunk * cut.lines + thread_row; outer < end;
         outer += outer_thread_rows * reduction_packets) {
      const Span span{batch, outer, inner, end, stage.inner, outer_thread_rows, 0};
      evaluate<T, reduction_packets, width, Code>(
          stage, span, OuterSink<T, reduction_packets, width, Code>{stage, states, span});
    }
  }

  POSTLUDE_UNROLL
  for (int lane = 0; lane < width; ++lane)
    shared[thread_row * tile + thread_column * width + lane] = states[lane];
  barrier();
  for (int column = rank; column < tile; column += team_threads) {
    if (tile_index * tile + column >= stage.inner) continue;
    ReductionState state = shared[column];
    for (int row = 1; row < outer_thread_rows; ++row)
      reduction_combine<T>(kind, stage.reductions[0].parameter, state, shared[row * tile + column]);
    partials.at(chunk, batch, tile_index * tile + column) = state;
  }
}

}  // namespace detail
}  // namespace postlude

#endif
