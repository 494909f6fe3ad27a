#include "gemm/hopper_tiling.hpp"

#include <algorithm>

#include "evaluator/quotient_up.hpp"

namespace postlude {
namespace detail {
namespace {

/// Bytes a second of memory, read; and of passes that read and write.
constexpr double read_speed = 4.0e12;
constexpr double pass_speed = 3.2e12;
/// A kernel in a row of others.
constexpr double launch_seconds = 2.5e-6;
/// A block's first copies, and its stores of 128 columns of y, in which it multiplies nothing.
constexpr double wave_seconds = 1.0e-6;
constexpr double store_seconds = 5.0e-6;

bool is_small(HopperFormat format) {
  return format == HopperFormat::float16 || format == HopperFormat::bfloat16;
}

double product_of(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

/// Seconds for 64 of k in one tile: what the products of 128 columns take, what it takes however
/// few they are, and what memory needs for w when so many blocks ask for it.
double step_seconds(HopperFormat format, int columns, double blocks) {
  struct Costs {
    double of_products;
    double least;
    double w_bytes;
  };
  const Costs costs = is_small(format)                   ? Costs{0.40e-6, 0.24e-6, 16384}
                      : format == HopperFormat::streamed ? Costs{1.80e-6, 0.72e-6, 32768}
                                                         : Costs{1.24e-6, 0.55e-6, 32768};
  return std::max(
      {costs.of_products * columns / 128, costs.least, costs.w_bytes * blocks / read_speed});
}

double seconds_of(HopperFormat format, const GemmSize& size, const HopperTiling& tiling,
                  int processors) {
  const std::int64_t tiles =
      quotient_up(size.n, hopper_rows) * quotient_up(size.m, tiling.columns) * tiling.slices;
  const std::int64_t steps = quotient_up(quotient_up(size.k, hopper_step), tiling.slices);
  const std::int64_t waves = quotient_up(tiles, processors);
  // Only the first tile of x of a column asks memory for w.
  const auto askers =
      static_cast<double>(std::min<std::int64_t>(tiles, processors)) /
      static_cast<double>(std::min<std::int64_t>(quotient_up(size.m, tiling.columns), 8));
  double seconds =
      2 * launch_seconds + product_of(waves, steps) * step_seconds(format, tiling.columns, askers) +
      static_cast<double>(waves) * (wave_seconds + store_seconds * tiling.columns / 128);
  if (!is_small(format))
    seconds += 2 * launch_seconds + product_of(size.m, size.k) * 8 / pass_speed;
  // Two parts have a kernel after the product all the same, which adds slices too.
  if (tiling.slices > 1)
    seconds += (is_small(format) ? 2 * launch_seconds : 0) +
               product_of(size.m, size.n) * 4 * (2 * tiling.slices) / pass_speed;
  return seconds;
}

}  // namespace

HopperChoice choose_hopper_tiling(HopperFormat format, const GemmSize& size, int processors) {
  HopperTiling tiling;
  tiling.columns = size.m <= 16 ? 16 : size.m <= 32 ? 32 : size.m <= 64 ? 64 : 128;
  if (is_small(format) && size.m >= 512) tiling.columns = 256;
  const std::int64_t tiles = quotient_up(size.n, hopper_rows) * quotient_up(size.m, tiling.columns);
  const std::int64_t steps = std::max<std::int64_t>(quotient_up(size.k, hopper_step), 1);
  HopperChoice best{tiling, seconds_of(format, size, tiling, processors)};
  for (int slices = 2; slices <= 16 && tiles * slices <= processors && steps >= 4 * slices;
       ++slices) {
    // Every slice has steps of its own.
    if (quotient_up(steps, quotient_up(steps, slices)) != slices) continue;
    tiling.slices = slices;
    const double seconds = seconds_of(format, size, tiling, processors);
    if (seconds < best.seconds) best = {tiling, seconds};
  }
  return best;
}

double splitting_seconds(const GemmSize& size) {
  return launch_seconds + product_of(size.n, size.k) * 8 / pass_speed;
}

double strict_gemm_seconds(const GemmSize& size) {
  // Few rows are computed by kernels that read w at a part of memory's speed, the less so the
  // smaller it is.
  const double w_bytes = product_of(size.n, size.k) * 4;
  const double few_rows_speed = w_bytes < 128e6 ? 1.3e12 : 1.9e12;
  const double reading = w_bytes / (size.m == 1 ? 3.0e12 : few_rows_speed);
  if (size.m <= 16) return launch_seconds + reading;
  const double rows = static_cast<double>(std::max<std::int64_t>(size.m, 64));
  // With few elements of y a part of the device has nothing to do, and with few rows a part of each
  // multiprocessor.
  const double elements = product_of(size.m, size.n);
  const double speed = elements < 131072    ? 30e12
                       : size.m <= 64       ? 38e12
                       : elements < 1048576 ? 40e12
                                            : 48e12;
  return 2 * launch_seconds +
         std::max(2 * rows * product_of(size.n, size.k) / speed, w_bytes / 3.8e12);
}

double split_gemm_seconds(const GemmSize& size) {
  const double flops = 6 * static_cast<double>(size.m) * product_of(size.n, size.k);
  const double gemms = std::max(flops / 760e12, product_of(size.n, size.k) * 4 / 3.1e12);
  // The second product adds to the first one's result, which has two rows for each of x below 257.
  const double y_bytes = product_of(size.m <= 256 ? 2 * size.m : size.m, size.n) * 8;
  return splitting_seconds(size) + 6 * launch_seconds + gemms +
         (product_of(size.m, size.k) * 8 + y_bytes) / pass_speed;
}

double small_gemm_seconds(const GemmSize& size) {
  const double flops = 2 * static_cast<double>(size.m) * product_of(size.n, size.k);
  return launch_seconds + std::max(flops / 720e12, product_of(size.n, size.k) * 2 / 3.9e12);
}

}  // namespace detail
}  // namespace postlude
