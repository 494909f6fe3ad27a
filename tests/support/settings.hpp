#ifndef POSTLUDE_TESTS_SUPPORT_SETTINGS_HPP
#define POSTLUDE_TESTS_SUPPORT_SETTINGS_HPP

#include <vector>

#include "support/workload.hpp"

namespace postlude {
namespace test {

/// Sizes that no block divides: one element, primes, one more than powers of two, one long vector
/// each way, and one that fills several blocks of every kind.
inline std::vector<Settings> odd_sizes() {
  const std::int64_t sizes[][3] = {{1, 1, 1},   {7, 13, 5},  {33, 65, 17},
                                   {1, 271, 3}, {271, 1, 3}, {130, 257, 67}};
  std::vector<Settings> list;
  for (const auto& size : sizes) {
    Settings settings;
    settings.m = size[0];
    settings.n = size[1];
    settings.k = size[2];
    list.push_back(settings);
  }
  return list;
}

/// Layouts of x, w, operands and results that between them have every kind of each.
inline std::vector<Settings> layouts_of(const Settings& base) {
  std::vector<Settings> list(5, base);
  list[1].x = Layout::column_major;
  list[1].w = Layout::column_major;
  list[1].operands = Layout::column_major;
  list[1].result = ResultLayout::column_major;

  list[2].x = Layout::padded_rows;
  list[2].w = Layout::padded_columns;
  list[2].operands = Layout::padded_rows;
  list[2].has_padded_outputs = true;

  list[3].x = Layout::every_second;
  list[3].w = Layout::reversed;
  list[3].operands = Layout::every_second;
  list[3].result = ResultLayout::column_major;
  list[3].has_padded_outputs = true;

  list[4].x = Layout::padded_columns;
  list[4].w = Layout::every_second;
  list[4].operands = Layout::reversed;
  list[4].result = ResultLayout::any;
  return list;
}

/// Every size in every layout.
inline std::vector<Settings> sizes_and_layouts(DataType dtype) {
  std::vector<Settings> list;
  for (Settings size : odd_sizes()) {
    size.dtype = dtype;
    for (const Settings& settings : layouts_of(size)) list.push_back(settings);
  }
  return list;
}

}  // namespace test
}  // namespace postlude

#endif
