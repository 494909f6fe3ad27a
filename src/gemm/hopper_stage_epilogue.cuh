#ifndef POSTLUDE_GEMM_HOPPER_STAGE_EPILOGUE_CUH
#define POSTLUDE_GEMM_HOPPER_STAGE_EPILOGUE_CUH

#include <cstdint>

#include "evaluator/evaluate.hpp"
#include "evaluator/quotient.hpp"
#include "evaluator/reducers.hpp"
#include "evaluator/sinks.hpp"
#include "evaluator/stage.hpp"
#include "gemm/hopper_epilogue.hpp"
#include "gemm/hopper_tiles.cuh"
#include "gemm/split_recompute.cuh"

namespace postlude {
namespace detail {

// The epilogue of a kernel that runs stages on its sums. A few rows of x at a time, the two
// warpgroups that multiply leave their part of y in shared memory, where elements of marked rows
// are computed again, and evaluate the stages on it as sweeps would on y in memory: the stages'
// operand y is given the address and the strides that lead from the indices in y to this place.
// The other warps go on with the next tile meanwhile.
//
// A stage may read what those before it have reduced where a tile has all of that: the block's own
// stores, behind a barrier.

/// Threads that multiply, and their named barrier.
constexpr int evaluating_threads = 2 * warpgroup_size;
constexpr int evaluating_barrier = 1;

/// Rows of x that are in shared memory at a time.
template <int columns>
constexpr int lines_at_once() {
  return columns < 32 ? columns : 32;
}

/// From row to row in shared memory: neither the stores of sums nor the evaluator's reads have two
/// lanes of an access in one bank.
constexpr int line_stride = hopper_rows + 4;

constexpr int elements_in_shared_memory = 32 * line_stride;

/// What is in shared memory beside the ring. The stages are copies whose operand y changes.
template <int count>
struct StageMemory {
  alignas(16) float y[elements_in_shared_memory];
  alignas(16) unsigned char stages[count][sizeof(Stage)];
  int found[hopper_rows];
};

/// One element is chosen by each lane, and the states of `threads` neighbouring lanes are combined
/// in the first one, in a tree of fixed shape.
template <int threads>
__device__ ReductionState combine_lanes(Reduction kind, double parameter, ReductionState state) {
#pragma unroll
  for (int distance = threads / 2; distance > 0; distance /= 2) {
    ReductionState other;
    other.first = __shfl_down_sync(whole_warp, state.first, distance, threads);
    other.second = __shfl_down_sync(whole_warp, state.second, distance, threads);
    other.index = __shfl_down_sync(whole_warp, state.index, distance, threads);
    reduction_combine<float>(kind, parameter, state, other);
  }
  return state;
}

/// A thread evaluates packets of so many neighbours, or of a window where that has fewer.
constexpr int stage_width = 4;

/// Pointwise stages: a warp takes every eighth line.
template <class Code>
struct PointwiseSweep {
  template <int columns>
  __device__ void begin(const Stage&) {}

  template <int columns>
  __device__ void take(const HopperParameters& p, const HopperEpilogue& epilogue,
                       const Stage& stage, const Unit&, int thread, int first_m, int first_n) {
    constexpr int packets = lines_at_once<columns>() / multiplying_warps;
    const Span span = lines_of_warp<columns>(p, epilogue, thread, first_m, first_n);
    if (span.outer < span.outer_end && span.inner < span.inner_end)
      evaluate<float, packets, stage_width, Code>(stage, span, NoSink());
  }

  template <int columns>
  __device__ void end(const HopperParameters&, const HopperEpilogue&, const Stage&, const Unit&,
                      int, float*) {}

  template <int columns>
  __device__ static Span lines_of_warp(const HopperParameters& p, const HopperEpilogue& epilogue,
                                       int thread, int first_m, int first_n) {
    const int warp = thread / warp_size;
    const int lane = thread % warp_size;
    return {epilogue.batch,
            first_m + warp,
            first_n + lane * stage_width,
            min(first_m + lines_at_once<columns>(), p.m),
            p.n,
            multiplying_warps,
            0};
  }
};

/// A reduction over rows of x: a thread has the states of four columns of a tile, for every eighth
/// line.
template <class Code>
struct OuterSweep {
  ReductionState states[stage_width];

  template <int columns>
  __device__ void begin(const Stage& stage) {
#pragma unroll
    for (ReductionState& state : states) state = reduction_identity<float>(Code::kind(stage, 0));
  }

  template <int columns>
  __device__ void take(const HopperParameters& p, const HopperEpilogue& epilogue,
                       const Stage& stage, const Unit&, int thread, int first_m, int first_n) {
    constexpr int packets = lines_at_once<columns>() / multiplying_warps;
    const Span span = PointwiseSweep<Code>::template lines_of_warp<columns>(p, epilogue, thread,
                                                                            first_m, first_n);
    if (span.outer < span.outer_end && span.inner < span.inner_end)
      evaluate<float, packets, stage_width, Code>(
          stage, span, OuterSink<float, packets, stage_width, Code>{stage, states, span});
  }

  template <int columns>
  __device__ void end(const HopperParameters& p, const HopperEpilogue& epilogue, const Stage& stage,
                      const Unit& unit, int thread, float* memory) {
    static_assert(multiplying_warps / 2 * hopper_rows * sizeof(ReductionState) <=
                      elements_in_shared_memory * sizeof(float),
                  "the states of half of the warps must have room where y was");
    const int warp = thread / warp_size;
    const int lane = thread % warp_size;
    auto* const shared = reinterpret_cast<ReductionState*>(memory);
#pragma unroll 1
    for (int half = multiplying_warps / 2; half > 0; half /= 2) {
      if (warp >= half && warp < 2 * half)
#pragma unroll
        for (int i = 0; i < stage_width; ++i)
          shared[(warp - half) * hopper_rows + lane * stage_width + i] = states[i];
      wait_for_threads<evaluating_barrier, evaluating_threads>();
      if (warp < half)
#pragma unroll
        for (int i = 0; i < stage_width; ++i)
          reduction_combine<float>(Code::kind(stage, 0), stage.reductions[0].parameter, states[i],
                                   shared[warp * hopper_rows + lane * stage_width + i]);
      wait_for_threads<evaluating_barrier, evaluating_threads>();
    }
    if (warp != 0) return;
    const Partials partials{epilogue.partials, stage.batch, p.n};
    const int n = unit.w_tile * hopper_rows + lane * stage_width;
#pragma unroll
    for (int i = 0; i < stage_width; ++i)
      if (n + i < p.n) partials.at(unit.x_tile, epilogue.batch, n + i) = states[i];
  }
};

/// Where the states of an inner reduction's tiles are, for one line.
__device__ inline ReductionState* states_of_line(const HopperEpilogue& epilogue, const Stage& stage,
                                                 int reduction, std::int64_t line, int tiles) {
  return epilogue.partials + (reduction * stage.batch * stage.outer + line) * tiles;
}

/// Tiles that make one result of an inner reduction.
__device__ inline int tiles_of_line(const Stage& stage) {
  return static_cast<int>((stage.inner + hopper_rows - 1) / hopper_rows);
}

/// Reductions along rows of w, of lines of y or, where they are windowed, of its windows. A window
/// is as wide as a part of the tile, `window` columns, or has several tiles, of which each then has
/// `window` = hopper_rows. A few neighbouring lanes have a window in common; where there are more
/// windows than lanes a lane has several. Whether a tile has `all` that makes a result, or a part.
template <class Code, int window, bool is_windowed, bool has_all>
struct InnerSweep {
  static constexpr int windows = hopper_rows / window;
  static constexpr int width = window < stage_width ? window : stage_width;

  template <int columns>
  __device__ void begin(const Stage&) {}

  template <int columns>
  __device__ void take(const HopperParameters& p, const HopperEpilogue& epilogue,
                       const Stage& stage, const Unit&, int thread, int first_m, int first_n) {
    constexpr int line_threads = evaluating_threads / lines_at_once<columns>();
    constexpr int threads = windows < line_threads ? line_threads / windows : 1;
    constexpr int at_once = line_threads / threads;
    const int m = first_m + thread / line_threads;
    const int place = thread % line_threads;
#pragma unroll 1
    for (int first = 0; first < windows; first += at_once)
      take_window<threads>(p, epilogue, stage, m, first_n + (first + place / threads) * window,
                           place % threads);
  }

  template <int columns>
  __device__ void end(const HopperParameters&, const HopperEpilogue&, const Stage&, const Unit&,
                      int, float*) {}

 private:
  /// `threads` neighbouring lanes take line `m` from column `n` on.
  template <int threads>
  __device__ static void take_window(const HopperParameters& p, const HopperEpilogue& epilogue,
                                     const Stage& stage, int m, int n, int place) {
    constexpr int packets = window / (threads * width);
    Span span{epilogue.batch, m, n, p.m, p.n, 0, threads * width};
    if (is_windowed) {
      // A stage counts lines as parts of a batch, and the windows of a line.
      span.batch = epilogue.batch * stage.parts + m;
      span.outer = window < hopper_rows ? n / window : quotient(n, stage.inner);
      span.inner = window < hopper_rows ? 0 : n - span.outer * stage.inner;
      span.outer_end = stage.outer;
      span.inner_end = stage.inner;
    }
    const std::int64_t line = span.batch * stage.outer + span.outer;
    const std::int64_t tile = span.inner / hopper_rows;
    const bool exists = m < p.m && span.outer < span.outer_end && span.inner < span.inner_end;
    span.inner += place * width;
    ReductionState states[maximum_reductions];
#pragma unroll
    for (int i = 0; i < maximum_reductions; ++i)
      states[i] = reduction_identity<float>(Code::kind(stage, i));
    if (exists && span.inner < span.inner_end)
      evaluate<float, packets, width, Code>(
          stage, span, InnerSink<float, packets, width, Code>{stage, states, span});
#pragma unroll
    for (int i = 0; i < maximum_reductions; ++i) {
      if (i >= Code::reductions(stage)) continue;
      const ReductionState state =
          combine_lanes<threads>(Code::kind(stage, i), stage.reductions[i].parameter, states[i]);
      if (place != 0 || !exists) continue;
      if constexpr (has_all)
        store_reduced<float, Code>(stage, i, span.batch, span.outer, 0, state, stage.inner);
      else
        states_of_line(epilogue, stage, i, line, tiles_of_line(stage))[tile] = state;
    }
  }
};

/// How a stage is run on a tile, and which of its operands is y.
template <class SweepOfTile, int operand, bool windowed>
struct TileStage {
  using Sweep = SweepOfTile;
  static constexpr int y = operand;
  static constexpr bool is_windowed = windowed;
};

/// The sweeps of a tile's stages, one after another.
template <class... Stages>
struct TileSweeps {
  template <int columns>
  __device__ void begin(const Stage*) {}

  template <int columns>
  __device__ void take(const HopperParameters&, const HopperEpilogue&, const Stage*, const Unit&,
                       int, int, int) {}

  template <int columns>
  __device__ void end(const HopperParameters&, const HopperEpilogue&, const Stage*, const Unit&,
                      int, float*) {}
};

template <class First, class... Others>
struct TileSweeps<First, Others...> {
  typename First::Sweep first;
  TileSweeps<Others...> others;

  template <int columns>
  __device__ void begin(const Stage* stages) {
    first.template begin<columns>(stages[0]);
    others.template begin<columns>(stages + 1);
  }

  template <int columns>
  __device__ void take(const HopperParameters& p, const HopperEpilogue& epilogue,
                       const Stage* stages, const Unit& unit, int thread, int first_m,
                       int first_n) {
    first.template take<columns>(p, epilogue, stages[0], unit, thread, first_m, first_n);
    if constexpr (sizeof...(Others) > 0) wait_for_threads<evaluating_barrier, evaluating_threads>();
    others.template take<columns>(p, epilogue, stages + 1, unit, thread, first_m, first_n);
  }

  template <int columns>
  __device__ void end(const HopperParameters& p, const HopperEpilogue& epilogue,
                      const Stage* stages, const Unit& unit, int thread, float* memory) {
    first.template end<columns>(p, epilogue, stages[0], unit, thread, memory);
    others.template end<columns>(p, epilogue, stages + 1, unit, thread, memory);
  }
};

/// Runs stages, each a TileStage, on every tile; y is written where it has a place.
template <class... Stages>
struct StageEpilogue {
  static constexpr int count = sizeof...(Stages);
  using Memory = StageMemory<count>;
  static constexpr int shared_bytes = sizeof(Memory);

  const HopperEpilogue& given;
  const Stage* given_stages[count];
  Memory& memory;

  __device__ Stage* stages() const { return reinterpret_cast<Stage*>(memory.stages); }

  /// By the threads that multiply, before anything else.
  __device__ void begin() const {
    static_assert(sizeof(Stage) % sizeof(std::uint64_t) == 0, "a stage is copied by words");
#pragma unroll
    for (int stage = 0; stage < count; ++stage) {
      const auto* const from = reinterpret_cast<const std::uint64_t*>(given_stages[stage]);
      auto* const to = reinterpret_cast<std::uint64_t*>(memory.stages[stage]);
      for (int i = threadIdx.x; i < static_cast<int>(sizeof(Stage) / sizeof(std::uint64_t));
           i += evaluating_threads)
        to[i] = from[i];
    }
    wait_for_threads<evaluating_barrier, evaluating_threads>();
  }

  template <HopperFormat format, int columns>
  __device__ void finish(const HopperParameters& p, const Unit& unit,
                         const TileSums<columns / 2>& sums) const {
    constexpr int lines = lines_at_once<columns>();
    const int thread = thread_read_anew();
    const int first_n = unit.w_tile * hopper_rows;
    if (format == HopperFormat::streamed && thread % 4 == 0) {
      memory.found[row_of_thread<format>(thread)] = sums.found[0];
      memory.found[row_of_thread<format>(thread) + 8] = sums.found[1];
    }
    TileSweeps<Stages...> sweeps;
    sweeps.template begin<columns>(stages());
#pragma unroll 1
    for (int part = 0; part < columns / lines; ++part) {
      const int first_m = unit.x_tile * columns + part * lines;
      if (first_m >= p.m) break;
      const bool is_marked = leave_sums<format, columns>(p, sums, thread, part, first_m);
      if (thread == 0) point_at(first_m, first_n);
      if (any_of_threads<evaluating_barrier, evaluating_threads>(is_marked)) {
        if constexpr (is_in_parts<format>) settle<format, lines>(p, thread, first_m, first_n);
        wait_for_threads<evaluating_barrier, evaluating_threads>();
      }
      if (p.y != nullptr) store_y<lines>(p, thread, first_m, first_n);
      sweeps.template take<columns>(p, given, stages(), unit, thread, first_m, first_n);
      wait_for_threads<evaluating_barrier, evaluating_threads>();
    }
    sweeps.template end<columns>(p, given, stages(), unit, thread, memory.y);
  }

 private:
  /// This thread's part of y for some lines; returns whether marked rows are among them.
  template <HopperFormat format, int columns>
  __device__ bool leave_sums(const HopperParameters& p, const TileSums<columns / 2>& sums,
                             int thread, int part, int first_m) const {
    constexpr int groups = lines_at_once<columns>() / 8;
    const int first_line = 2 * (thread % 4);
    std::uint32_t marks = static_cast<std::uint32_t>(sums.found[0] | sums.found[1]) & 3u;
    // Registers have no index at run time: the code for every part, of which one is run.
#pragma unroll
    for (int each = 0; each < columns / lines_at_once<columns>(); ++each) {
      if (each != part) continue;
#pragma unroll
      for (int group = 0; group < groups; ++group)
#pragma unroll
        for (int column = 0; column < 2; ++column) {
          const int line = first_line + 8 * group + column;
          int exponent = 0;
          if (is_in_parts<format> && first_m + line < p.m) {
            const RowScale& scale = p.x_scales[first_m + line];
            exponent = scale.exponent;
            marks |= scale.marks;
          }
          float* const place = memory.y + line * line_stride + row_of_thread<format>(thread);
#pragma unroll
          for (int row = 0; row < 2; ++row)
            place[8 * row] = sums.template y<format>(each * groups + group, row, column, exponent);
        }
    }
    return marks != 0;
  }

  /// Makes the stages read y where this part of it is.
  __device__ void point_at(int first_m, int first_n) const {
    int stage = 0;
    (point_at(stages()[stage++], Stages::y, Stages::is_windowed, first_m, first_n), ...);
  }

  __device__ void point_at(Stage& stage, int operand, bool is_windowed, int first_m,
                           int first_n) const {
    OperandAccess& y = stage.operands[operand];
    y.data = memory.y - (static_cast<std::int64_t>(first_m) * line_stride + first_n);
    y.stride_batch = 0;
    y.stride_part = is_windowed ? line_stride : 0;
    y.stride_outer = is_windowed ? stage.inner : line_stride;
    y.stride_inner = 1;
  }

  /// What settle_sums() does to y in memory.
  template <HopperFormat format, int lines>
  __device__ void settle(const HopperParameters& p, int thread, int first_m, int first_n) const {
    const int lane = thread % warp_size;
#pragma unroll 1
    for (int line = thread / warp_size; line < lines; line += multiplying_warps) {
      const int m = first_m + line;
      if (m >= p.m) break;
      const RowScale x_scale = p.x_scales[m];
#pragma unroll 1
      for (int row = lane; row < hopper_rows; row += warp_size) {
        const int n = first_n + row;
        RowScale w_scale;
        if constexpr (format == HopperFormat::streamed)
          w_scale = streamed_scale(p, memory.found[row]);
        else if (n < p.n)
          w_scale = p.w_scales[n];
        float& place = memory.y[line * line_stride + row];
        const double product =
            static_cast<double>(place) * power_of_two_double(x_scale.exponent + w_scale.exponent);
        const bool is_lost = n < p.n && must_recompute(x_scale, w_scale, product);
        const double exact = recompute(given.x, x_scale, given.w, w_scale, m, n, is_lost);
        if (is_lost) place = static_cast<float>(exact);
      }
    }
  }

  template <int lines>
  __device__ void store_y(const HopperParameters& p, int thread, int first_m, int first_n) const {
    const int n = first_n + thread % warp_size * stage_width;
#pragma unroll 1
    for (int line = thread / warp_size; line < lines && first_m + line < p.m;
         line += multiplying_warps) {
      const float* const from = memory.y + line * line_stride + n - first_n;
      float* const to = p.y + (first_m + line) * p.y_row_stride + n;
      if (n + stage_width <= p.n && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
        *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
      } else {
        for (int i = 0; i < stage_width; ++i)
          if (n + i < p.n) to[i] = from[i];
      }
    }
  }
};

/// A warp combines what the tiles of w have left of line `line`, of all products' lines, for every
/// reduction, and stores the results.
template <class Code>
__device__ void finish_inner_line(const HopperEpilogue& epilogue, const Stage& stage, int tiles,
                                  std::int64_t line) {
  if (!stage.condition.holds()) return;
  const int lane = threadIdx.x % warp_size;
#pragma unroll
  for (int i = 0; i < maximum_reductions; ++i) {
    if (i >= Code::reductions(stage)) continue;
    const Reduction kind = Code::kind(stage, i);
    const double parameter = stage.reductions[i].parameter;
    const ReductionState* const states = states_of_line(epilogue, stage, i, line, tiles);
    ReductionState state = reduction_identity<float>(kind);
    for (int tile = lane; tile < tiles; tile += warp_size)
      reduction_combine<float>(kind, parameter, state, states[tile]);
    state = combine_lanes<warp_size>(kind, parameter, state);
    if (lane == 0)
      store_reduced<float, Code>(stage, i, line / stage.outer, line % stage.outer, 0, state,
                                 stage.inner);
  }
}

}  // namespace detail
}  // namespace postlude

#endif
