#ifndef POSTLUDE_SWEEP_GRID_HPP
#define POSTLUDE_SWEEP_GRID_HPP

#include <cstdint>

namespace postlude {
namespace detail {

/// Teams or blocks of one launch. CUDA takes 2^31 - 1, and Kokkos counts the teams of a league with
/// an int; short lines make more of them than that in a large problem.
constexpr std::int64_t largest_grid = std::int64_t(1) << 30;

/// Calls `launch(first, blocks)` until `count` blocks have been launched.
template <class Launch>
void launch_in_parts(std::int64_t count, const Launch& launch) {
  for (std::int64_t first = 0; first < count; first += largest_grid)
    launch(first, count - first < largest_grid ? count - first : largest_grid);
}

}  // namespace detail
}  // namespace postlude

#endif
