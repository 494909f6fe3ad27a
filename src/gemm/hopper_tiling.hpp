#ifndef POSTLUDE_GEMM_HOPPER_TILING_HPP
#define POSTLUDE_GEMM_HOPPER_TILING_HPP

#include <cstdint>

namespace postlude {
namespace detail {

// How the hopper engine cuts a product, and how long that and its rivals will take: a model of few
// numbers, measured on an H200 (perf/NOTES.md). It decides between engines; nobody should read it
// as a promise.

/// What the kernel multiplies.
enum class HopperFormat {
  float16,
  bfloat16,
  /// x and w in two parts (split_kernels.hpp).
  split,
  /// x in two parts, w in float32, which is split in registers. A row of w may have another power
  /// of two for each 64 of k.
  streamed
};

/// Elements of k in a step, and rows of w in a tile.
constexpr int hopper_step = 64;
constexpr int hopper_rows = 128;

/// How a product is cut.
struct HopperTiling {
  int columns = 128;  ///< rows of x in a tile: 16, 32, 64 or 128; 256 for 16-bit floats
  int slices = 1;     ///< parts of k whose sums are added afterwards
};

struct HopperChoice {
  HopperTiling tiling;
  double seconds = 0;  ///< of the whole: x split, the product, what marked rows need
};

struct GemmSize {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

/// The best tiling for one product on a device of so many multiprocessors.
HopperChoice choose_hopper_tiling(HopperFormat format, const GemmSize& size, int processors);

/// Seconds for splitting w in memory.
double splitting_seconds(const GemmSize& size);

/// Seconds of a sweep over y that reads and writes so many bytes an element, which a stage in the
/// GEMM's kernel spares.
double stage_seconds(const GemmSize& size, double bytes);

/// Seconds that the vendor's GEMM takes in strict float32, and with 16-bit floats.
double strict_gemm_seconds(const GemmSize& size);
double small_gemm_seconds(HopperFormat format, const GemmSize& size);

/// Seconds of the engine split with all that belongs to it, also a sweep over y that reads and
/// writes so many bytes an element.
double split_gemm_seconds(const GemmSize& size, double sweep_bytes);

}  // namespace detail
}  // namespace postlude

#endif
