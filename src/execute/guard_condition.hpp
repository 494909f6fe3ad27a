#ifndef POSTLUDE_EXECUTE_GUARD_CONDITION_HPP
#define POSTLUDE_EXECUTE_GUARD_CONDITION_HPP

#include <cstdint>

#include "evaluator/function.hpp"

namespace postlude {
namespace detail {

/// Magnitudes that passes have left.
struct Magnitudes {
  const double* values = nullptr;
  std::int64_t count = 0;
};

/// What has to hold for a program without the GEMM to be right.
struct GuardCondition {
  double limit = 0;
  /// Of y, or of the sums of its elements, twice: products that are added up.
  double products = 0;
  double rows_of_w = 0;  ///< twice the rows that are added up; twice one where none are
  double rows_of_x = 0;

  /// For the largest magnitudes in x and w. Comparisons are false for NaN.
  POSTLUDE_FUNCTION bool holds(double x, double w) const {
    return products * x * w <= limit && rows_of_w * w <= limit && rows_of_x * x <= limit;
  }
};

}  // namespace detail
}  // namespace postlude

#endif
