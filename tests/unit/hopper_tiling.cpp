#include "gemm/hopper_tiling.hpp"

#include <algorithm>
#include <cstdint>

#include "support/catch.hpp"

using namespace postlude::detail;

namespace {

constexpr int processors = 132;

/// Microseconds on an H200 with prepared weights, all kernels of a product, and of the vendor's
/// strict float32 GEMM; 0 where it was not measured.
struct Measured {
  GemmSize size;
  double strict;
  double in_slices[3];  ///< k in 1, 2 and 4 slices
};

constexpr Measured measurements[] = {
    {{1, 1024, 1024}, 3.08, {13.16, 11.4, 10.16}},
    {{1, 4096, 4096}, 22.56, {31.8, 26.82, 26.04}},
    {{1, 4096, 16384}, 69.88, {132.5, 83.41, 77.46}},
    {{1, 8192, 8192}, 89.86, {78.23, 73.46, 0}},
    {{1, 16384, 4096}, 84.27, {73.24, 0, 0}},
    {{8, 1024, 1024}, 8.78, {13.4, 16.06, 13.44}},
    {{8, 4096, 4096}, 46.0, {31.92, 31.38, 29.17}},
    {{8, 4096, 16384}, 164.79, {102.15, 84.64, 77.5}},
    {{8, 8192, 8192}, 138.63, {78.24, 77.59, 0}},
    {{16, 1024, 1024}, 11.01, {13.92, 16.41, 13.85}},
    {{16, 4096, 4096}, 49.82, {32.56, 32.36, 29.77}},
    {{16, 4096, 16384}, 142.88, {102.78, 84.71, 78.4}},
    {{16, 8192, 8192}, 143.68, {79.62, 78.36, 0}},
    {{32, 1024, 1024}, 11.01, {15.48, 17.7, 15.31}},
    {{32, 4096, 4096}, 47.47, {35.7, 33.78, 31.09}},
    {{32, 4096, 16384}, 158.13, {110.57, 86.42, 80.07}},
    {{32, 8192, 8192}, 202.4, {80.29, 79.85, 0}},
    {{64, 1024, 1024}, 12.96, {18.92, 20.86, 17.74}},
    {{64, 4096, 4096}, 63.4, {43.43, 36.62, 33.34}},
    {{64, 4096, 16384}, 203.56, {137.73, 96.62, 84.94}},
    {{64, 8192, 8192}, 201.38, {88.36, 85.03, 0}},
    {{128, 1024, 1024}, 14.79, {29.34, 27.85, 23.15}},
    {{128, 4096, 4096}, 100.55, {72.71, 51.98, 40.42}},
    {{128, 4096, 16384}, 355.27, {241.22, 143.47, 107.6}},
    {{128, 8192, 8192}, 351.48, {134.18, 106.68, 0}},
    {{128, 16384, 4096}, 351.53, {95.4, 0, 0}},
    {{256, 1024, 1024}, 21.6, {30.12, 28.66, 24.23}},
    {{256, 4096, 4096}, 180.47, {77.95, 62.08, 0}},
    {{256, 4096, 16384}, 695.87, {251.02, 173.4, 0}},
    {{512, 1024, 1024}, 32.6, {30.7, 29.92, 25.74}},
    {{2048, 1024, 1024}, 95.08, {37.51, 0, 0}},
    {{2048, 4096, 4096}, 1369.66, {324.61, 0, 0}},
    {{2048, 4096, 16384}, 5466.22, {1344.92, 0, 0}},
    {{2048, 8192, 8192}, 5467.4, {1340.32, 0, 0}},
    {{2048, 16384, 4096}, 5466.96, {1424.83, 0, 0}},
};

}  // namespace

TEST_CASE("slices of k all have steps, and are no more than there is room for", "[unit]") {
  for (const HopperFormat format :
       {HopperFormat::float16, HopperFormat::bfloat16, HopperFormat::split, HopperFormat::streamed})
    for (const std::int64_t m : {1, 8, 16, 17, 64, 128, 129, 1024, 8192})
      for (const std::int64_t n : {1, 127, 128, 129, 4096, 16384})
        for (const std::int64_t k : {1, 63, 64, 65, 1000, 4096, 65536}) {
          INFO(m << "x" << n << "x" << k);
          const HopperChoice choice = choose_hopper_tiling(format, {m, n, k}, processors);
          const HopperTiling& tiling = choice.tiling;
          const std::int64_t steps = (k + hopper_step - 1) / hopper_step;
          const std::int64_t of_slice = (steps + tiling.slices - 1) / tiling.slices;
          CHECK((tiling.slices - 1) * of_slice < steps);
          const std::int64_t tiles = (n + hopper_rows - 1) / hopper_rows *
                                     ((m + tiling.columns - 1) / tiling.columns) * tiling.slices;
          CHECK((tiling.slices == 1 || tiles <= processors));
          CHECK((tiling.columns >= m || tiling.columns >= 128));
          CHECK(choice.seconds > 0);
        }
}

TEST_CASE("the hopper engine cuts a product nearly as well as the best that was measured",
          "[unit]") {
  for (const Measured& each : measurements) {
    INFO(each.size.m << "x" << each.size.n << "x" << each.size.k);
    const HopperChoice choice = choose_hopper_tiling(HopperFormat::split, each.size, processors);
    double best = each.in_slices[0];
    for (const double time : each.in_slices)
      if (time > 0) best = std::min(best, time);
    const int slices = choice.tiling.slices;
    if (slices != 1 && slices != 2 && slices != 4) continue;  // was not measured
    const double chosen = each.in_slices[slices == 4 ? 2 : slices - 1];
    CHECK(chosen > 0);
    CHECK(chosen <= 1.05 * best);
  }
}

TEST_CASE("the model of speed prefers strict float32 only where that is hardly slower", "[unit]") {
  for (const Measured& each : measurements) {
    INFO(each.size.m << "x" << each.size.n << "x" << each.size.k);
    const HopperChoice choice = choose_hopper_tiling(HopperFormat::split, each.size, processors);
    double best = each.in_slices[0];
    for (const double time : each.in_slices)
      if (time > 0) best = std::min(best, time);
    const bool prefers_strict = choice.seconds > strict_gemm_seconds(each.size);
    // The model is fitted to whole executions, in which slices cost more than in these products.
    CHECK((prefers_strict ? each.strict <= 1.3 * best : best <= 1.3 * each.strict));
  }
}
