#ifndef POSTLUDE_PLAN_KEPT_VALUE_HPP
#define POSTLUDE_PLAN_KEPT_VALUE_HPP

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace postlude {
namespace detail {

/// What one stage computes, or reduces, on each element that it visits.
struct VisitedValues {
  Shape domain;
  std::int64_t window_size = 0;  ///< of the parts of a row that it reduces, 0 for whole ones
  std::vector<int> values;
};

/// A value to be kept where y is, and the stage that leaves it there.
struct KeptValue {
  int value = -1;  ///< -1 for none
  std::size_t stage = 0;
};

/// The value that the first stage which reads y had better leave in y's place, since the later ones
/// need it, and nothing else of y, and would compute functions again that take longer than to write
/// and to read a number: gelu(y + bias) of softmax(gelu(y + bias), dim=1). `stages` are in order.
KeptValue find_kept_value(const Program& program, const std::vector<VisitedValues>& stages);

}  // namespace detail
}  // namespace postlude

#endif
