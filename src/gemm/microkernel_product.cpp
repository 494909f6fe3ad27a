#include "gemm/microkernel_product.hpp"

#include <algorithm>

#include "evaluator/quotient_up.hpp"
#include "gemm/avx512_kernels.hpp"
#include "gemm/thread_items.hpp"

namespace postlude {
namespace detail {
namespace {

constexpr std::int64_t width = avx512_width;
/// Of a unit at most: half a megabyte of packed x for each block of K.
constexpr std::int64_t most_lanes = 256;
/// Of a panel at most: with the sums of a unit, as much of a cache as its x.
constexpr std::int64_t most_columns = 128;
/// Floats of x in a unit at most, 16 MB, unless K alone makes them more.
constexpr std::int64_t most_of_unit = std::int64_t(4) << 20;
/// Floats of x that are packed at once, 8 MB, or one unit.
constexpr std::int64_t most_packed = std::int64_t(2) << 20;

std::int64_t rounded_up(std::int64_t value, std::int64_t to) { return quotient_up(value, to) * to; }

/// Threads that a problem keeps busy.
std::int64_t useful_threads(const GemmProblem& problem, std::int64_t threads) {
  // As long as it takes to start and to join them.
  constexpr double fewest_products = 1 << 18;
  const double products = static_cast<double>(problem.batch) * static_cast<double>(problem.m) *
                          static_cast<double>(problem.n) * static_cast<double>(problem.k);
  return products < fewest_products ? 1 : threads;
}

void for_each(std::int64_t threads, std::int64_t items, const ThreadWork& work) {
  if (threads > 1) return for_each_on_threads(threads, items, work);
  for (std::int64_t item = 0; item < items; ++item) work(0, item);
}

}  // namespace

MicrokernelProduct::MicrokernelProduct(const GemmProblem& problem, std::int64_t threads)
    : threads_(threads), depth_(std::max<std::int64_t>(problem.k, 1)) {
  // Of at least one vector and one k, so that an empty problem needs nothing of its own.
  const std::int64_t units = std::max<std::int64_t>(quotient_up(problem.m, most_lanes), 1);
  unit_lanes_ = std::max(rounded_up(quotient_up(problem.m, units), width), width);
  while (unit_lanes_ > sliver_lanes && floats_of_unit() > most_of_unit)
    unit_lanes_ = rounded_up(unit_lanes_ / 2, sliver_lanes);
  units_ = unit_count(problem);
  units_at_once_ = std::clamp<std::int64_t>(most_packed / floats_of_unit(), 1,
                                            std::max<std::int64_t>(units_, 1));
  panel_columns_ = std::min(problem.n, most_columns);
  floats_of_sums_ = panel_columns_ * unit_lanes_;
  floats_of_thread_ = floats_of_sums_;
  if (must_copy_w(problem.k, problem.w.column))
    floats_of_thread_ += rounded_up(panel_columns_ * std::min(problem.k, microkernel_depth), width);
}

std::size_t MicrokernelProduct::workspace_bytes() const {
  return static_cast<std::size_t>(units_at_once_ * floats_of_unit() +
                                  threads_ * floats_of_thread_) *
         sizeof(float);
}

std::int64_t MicrokernelProduct::unit_count(const GemmProblem& problem) const {
  return problem.batch * quotient_up(problem.m, unit_lanes_);
}

MicrokernelProduct::Unit MicrokernelProduct::unit_of(const GemmProblem& problem,
                                                     std::int64_t index) const {
  const std::int64_t of_matrix = quotient_up(problem.m, unit_lanes_);
  const std::int64_t row = index % of_matrix * unit_lanes_;
  return {index / of_matrix, row, std::min(unit_lanes_, problem.m - row)};
}

void MicrokernelProduct::pack_units(const GemmProblem& problem, const ProductMemory& memory,
                                    std::int64_t first, std::int64_t count,
                                    std::int64_t threads) const {
  // Whole blocks, for which every row's page is visited once, or where that is too few for the
  // threads, pieces of them.
  const std::int64_t slivers = quotient_up(unit_lanes_, sliver_lanes);
  const std::int64_t blocks = count * slivers * quotient_up(depth_, microkernel_depth);
  const std::int64_t piece = blocks < 2 * threads ? microkernel_depth / 4 : microkernel_depth;
  const std::int64_t pieces = quotient_up(depth_, piece);
  for_each(threads, count * pieces * slivers, [&](std::int64_t, std::int64_t item) {
    const std::int64_t index = item / (pieces * slivers);
    const std::int64_t lane = item / pieces % slivers * sliver_lanes;
    const std::int64_t k = item % pieces * piece;
    const Unit unit = unit_of(problem, first + index);
    if (lane >= unit.rows) return;
    const std::int64_t block = k / microkernel_depth * microkernel_depth;
    const std::int64_t lanes = rounded_up(unit.rows, width);
    MatrixCopy copy;
    copy.rows = std::min(piece, depth_ - k);
    copy.columns = std::min(sliver_lanes, unit.rows - lane);
    copy.padded_columns = copy.to_row = std::min(sliver_lanes, lanes - lane);
    copy.from = memory.x + unit.batch * problem.x.batch + (unit.row + lane) * problem.x.row +
                k * problem.x.column;
    copy.from_row = problem.x.column;
    copy.from_column = problem.x.row;
    copy.to = memory.workspace + index * floats_of_unit() + block * lanes +
              lane * std::min(microkernel_depth, depth_ - block) + (k - block) * copy.to_row;
    copy_matrix_avx512(copy);
  });
}

void MicrokernelProduct::pack(const GemmProblem& problem, const ProductMemory& memory) const {
  pack_units(problem, memory, 0, unit_count(problem), useful_threads(problem, threads_));
}

void MicrokernelProduct::multiply(std::int64_t thread, const GemmProblem& problem,
                                  const ProductMemory& memory, const Unit& unit,
                                  const float* packed, std::int64_t column,
                                  std::int64_t columns) const {
  PanelOfY panel;
  panel.rows = unit.rows;
  panel.columns = columns;
  panel.depth = depth_;
  panel.x = packed;
  panel.w = memory.w;
  panel.w.data += unit.batch * problem.w.batch;
  if (panel.w.block_rows == 0)
    panel.w.data += column * problem.w.row;
  else
    panel.w.first += column;
  panel.strides = problem.y;
  panel.y = memory.y + unit.batch * problem.y.batch + unit.row * problem.y.row +
            column * problem.y.column;
  panel.sums = memory.workspace + units_at_once_ * floats_of_unit() + thread * floats_of_thread_;
  panel.copied = panel.sums + floats_of_sums_;
  multiply_panel(panel);
}

void MicrokernelProduct::run_panel(std::int64_t thread, const GemmProblem& problem,
                                   const ProductMemory& memory) const {
  for (std::int64_t column = 0; column < problem.n; column += panel_columns_)
    for (std::int64_t index = 0; index < unit_count(problem); ++index)
      multiply(thread, problem, memory, unit_of(problem, index),
               memory.workspace + index * floats_of_unit(), column,
               std::min(panel_columns_, problem.n - column));
}

void MicrokernelProduct::run(const GemmProblem& problem, const ProductMemory& memory) const {
  const std::int64_t threads = useful_threads(problem, threads_);
  const std::int64_t units = unit_count(problem);
  for (std::int64_t first = 0; first < units; first += units_at_once_) {
    const std::int64_t count = std::min(units_at_once_, units - first);
    pack_units(problem, memory, first, count, threads);
    // Panels of one size, as many for each thread.
    const std::int64_t rounds = quotient_up(problem.n * count, threads * panel_columns_);
    const std::int64_t wanted = quotient_up(rounds * threads, count);
    const std::int64_t columns =
        std::min(rounded_up(quotient_up(problem.n, wanted), width), panel_columns_);
    const std::int64_t panels = quotient_up(problem.n, columns);
    for_each(threads, count * panels, [&](std::int64_t thread, std::int64_t item) {
      // The units of a panel one after the other, by threads that then share its rows of w.
      const std::int64_t index = item % count;
      const std::int64_t column = item / count * columns;
      multiply(thread, problem, memory, unit_of(problem, first + index),
               memory.workspace + index * floats_of_unit(), column,
               std::min(columns, problem.n - column));
    });
  }
}

}  // namespace detail
}  // namespace postlude
