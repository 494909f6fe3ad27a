#include "gemm/hopper_tiling.hpp"

#include <algorithm>
#include <cmath>

#include "evaluator/quotient_up.hpp"

namespace postlude {
namespace detail {
namespace {

// Numbers of this model are fitted to measured times (perf/NOTES.md, "Choice of engine"): a term
// that is named for one cause takes in what goes along with it.

/// Bytes a second of passes that read and write: over slices, splitting x (up to so many bytes the
/// first speed) or w, and a sweep over y.
constexpr double slices_speed = 2.84e12;
constexpr double small_x_splitting_speed = 1.27e12;
constexpr double large_x_bytes = 40e6;
constexpr double x_splitting_speed = 1.93e12;
constexpr double w_splitting_speed = 3.63e12;
constexpr double sweep_speed = 2.37e12;
/// At which 16-bit floats are read from memory, whatever the number of rows of x.
constexpr double small_read_speed = 4.5e12;
/// A kernel in a row of others; one that adds slices; a sweep's; all those of the engine split; the
/// vendor's with 16-bit floats.
constexpr double launch_seconds = 2.5e-6;
constexpr double slices_launch_seconds = 4.5e-6;
constexpr double sweep_launch_seconds = 4.0e-6;
constexpr double split_launches_seconds = 16.4e-6;
constexpr double small_launch_seconds = 3.36e-6;

bool is_small(HopperFormat format) {
  return format == HopperFormat::float16 || format == HopperFormat::bfloat16;
}

double product_of(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

/// Of two parts, three products.
double flops_of_parts(const GemmSize& size) {
  return 6 * static_cast<double>(size.m) * product_of(size.n, size.k);
}

/// From `first` at `begin` to `last` at `end`, along a line.
double between(double begin, double first, double end, double last, double place) {
  const double share = std::min(std::max((place - begin) / (end - begin), 0.0), 1.0);
  return first + share * (last - first);
}

// Products of some milliseconds are slowed down by the limit of power.

/// The part of its speed at which the kernel multiplies parts for so many operations.
double share_at_power(double flops) { return between(0.8e12, 1, 6e12, 0.75, flops); }

/// The same with 16-bit floats.
double small_share_at_power(double flops) { return between(4e12, 1, 6e12, 0.93, flops); }

/// The vendor's GEMM of parts, operations a second.
double parts_speed(double flops) { return between(1e12, 884e12, 1.3e13, 650e12, flops); }

double x_splitting_seconds(const GemmSize& size) {
  const double bytes = product_of(size.m, size.k) * 8;
  return std::max(bytes / x_splitting_speed,
                  std::min(bytes, large_x_bytes) / small_x_splitting_speed);
}

/// What the kernels of a format take: fitted to 60 shapes and to the small batches of NOTES.md.
struct Costs {
  double of_products;  ///< seconds of 64 of k in one tile of 128 columns
  double least;        ///< the same, however few the columns
  double w_bytes;      ///< of 64 of k in one tile
  double read_speed;   ///< bytes a second, from memory and the cache before it
  double of_wave;      ///< a block's first copies, in which it multiplies nothing
  double of_store;     ///< what it does with the sums of 128 columns, in which it does not either
  double of_launches;
};

Costs costs_of(HopperFormat format) {
  if (is_small(format)) return {0.335e-6, 0.292e-6, 16384, 6.27e12, 1.5e-6, 3.2e-6, 4.0e-6};
  if (format == HopperFormat::streamed)
    return {1.217e-6, 1.005e-6, 32768, 4.43e12, 2.21e-6, 6.94e-6, 7.47e-6};
  return {0.932e-6, 0.663e-6, 32768, 4.43e12, 2.21e-6, 6.94e-6, 7.47e-6};
}

double seconds_of(HopperFormat format, const GemmSize& size, const HopperTiling& tiling,
                  int processors) {
  const Costs costs = costs_of(format);
  const std::int64_t tiles =
      quotient_up(size.n, hopper_rows) * quotient_up(size.m, tiling.columns) * tiling.slices;
  const std::int64_t steps = quotient_up(quotient_up(size.k, hopper_step), tiling.slices);
  const std::int64_t waves = quotient_up(tiles, processors);
  // Only the first tile of x of a column asks memory for w.
  const auto askers =
      static_cast<double>(std::min<std::int64_t>(tiles, processors)) /
      static_cast<double>(std::min<std::int64_t>(quotient_up(size.m, tiling.columns), 8));
  const double columns = tiling.columns / 128.0;
  const double flops = flops_of_parts(size);
  const double share = is_small(format) ? small_share_at_power(flops) : share_at_power(flops);
  const double step = std::max({costs.of_products * columns / share, costs.least,
                                costs.w_bytes * askers / costs.read_speed});
  double seconds = costs.of_launches + product_of(waves, steps) * step +
                   static_cast<double>(waves) * (costs.of_wave + costs.of_store * columns);
  if (is_small(format))
    seconds = std::max(seconds, costs.of_launches + costs.of_wave +
                                    product_of(size.n, size.k) * 2 / small_read_speed);
  else
    seconds += x_splitting_seconds(size);
  if (tiling.slices > 1)
    seconds +=
        slices_launch_seconds + product_of(size.m, size.n) * 4 * (2 * tiling.slices) / slices_speed;
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
  return launch_seconds + product_of(size.n, size.k) * 8 / w_splitting_speed;
}

double stage_seconds(const GemmSize& size, double bytes) {
  return sweep_launch_seconds + product_of(size.m, size.n) * bytes / sweep_speed;
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

double split_gemm_seconds(const GemmSize& size, double sweep_bytes) {
  // With few elements of y most of the device has nothing to do.
  const double flops = flops_of_parts(size);
  const double speed = std::min(parts_speed(flops), 0.8e12 * std::sqrt(product_of(size.m, size.n)));
  const double gemms = std::max(flops / speed, product_of(size.n, size.k) * 4 / 3.24e12);
  // The second product adds to the first one's result, which has two rows for each of x below 257.
  const double y_bytes = product_of(size.m <= 256 ? 2 * size.m : size.m, size.n) * 12;
  // A part stays in the cache before memory.
  const double cached_bytes = std::min(y_bytes, 100e6);
  const double y_seconds = cached_bytes / 7.4e12 + (y_bytes - cached_bytes) / 3.7e12;
  return splitting_seconds(size) + split_launches_seconds + gemms + x_splitting_seconds(size) +
         y_seconds + product_of(size.m, size.n) * sweep_bytes / sweep_speed;
}

double small_gemm_seconds(HopperFormat format, const GemmSize& size) {
  // For one row of 1024 or so columns cuBLASLt takes an algorithm that goes through k in one piece.
  if (size.m == 1 && size.n > 896 && size.n < 1152 && size.k < 3072)
    return small_launch_seconds + 2.7e-6 + static_cast<double>(size.k) * 5.1e-9;
  const double flops = 2 * static_cast<double>(size.m) * product_of(size.n, size.k);
  const double w_bytes = product_of(size.n, size.k) * 2;
  // One row of float16 is read at less than the speed of memory where w is not very large.
  const bool is_slow_row =
      format == HopperFormat::float16 && size.m == 1 && w_bytes > 1e8 && w_bytes < 2e8;
  return small_launch_seconds + std::max(flops / 847e12, w_bytes / (is_slow_row ? 3.6e12 : 4.3e12));
}

}  // namespace detail
}  // namespace postlude
