#ifndef POSTLUDE_PROGRAM_RANGES_RANGE_HPP
#define POSTLUDE_PROGRAM_RANGES_RANGE_HPP

#include <limits>

namespace postlude {
namespace detail {

/// The numbers that a value may be: those from `low` to `high`, infinities included, and NaN and -0
/// where it is said. What is unknown is everything.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool may_be_nan = true;
  bool may_be_negative_zero = true;

  static Range everything() { return {}; }
  /// Numbers from low to high, 0 in it being +0.
  static Range between(double low, double high, bool may_be_nan) {
    return {low, high, may_be_nan, false};
  }

  bool is_finite() const {
    return !may_be_nan && low > -std::numeric_limits<double>::infinity() &&
           high < std::numeric_limits<double>::infinity();
  }
  bool may_be_infinite() const {
    return low == -std::numeric_limits<double>::infinity() ||
           high == std::numeric_limits<double>::infinity();
  }
  bool has_zero() const { return low <= 0 && high >= 0; }
  /// Not negative, or NaN, and no -0.
  bool is_without_sign() const { return low >= 0 && !may_be_negative_zero; }
};

}  // namespace detail
}  // namespace postlude

#endif
