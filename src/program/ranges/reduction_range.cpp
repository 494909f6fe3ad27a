#include <algorithm>
#include <cmath>
#include <limits>

#include "program/ranges/value_range.hpp"

namespace postlude {
namespace detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a sum of so many elements may be off by, relative to its largest possible magnitude: it is
/// added up in float64.
double sum_error(std::int64_t count) {
  return 4 * static_cast<double>(count) * std::numeric_limits<double>::epsilon();
}

Range sum(const Range& v, double count, double error, DataType arithmetic) {
  Range range;
  range.low = v.low == 0 ? 0 : v.low * count;
  range.high = v.high == 0 ? 0 : v.high * count;
  range.may_be_nan = v.may_be_nan || (v.low == -infinity && v.high == infinity);
  range = widened(range, arithmetic, error);
  return range;
}

}  // namespace

Range reduction_range(const Value& value, const Range& v, std::int64_t count, DataType arithmetic) {
  // Over no elements each reduction has a value of its own; over NaN alone there is nothing to say.
  if (count == 0 || v.low > v.high) return Range::everything();
  switch (value.reduction) {
    case Reduction::sum: {
      Range range = sum(v, static_cast<double>(count), sum_error(count), arithmetic);
      range.may_be_negative_zero = range.low < 0;  // starts from +0
      return range;
    }
    case Reduction::mean: {
      // A float64 sum may overflow where the mean does not, but only in float64 problems.
      Range range = sum(v, 1, sum_error(count), arithmetic);
      if (arithmetic == DataType::float64 && count > 1) {
        if (v.high * static_cast<double>(count) == infinity) range.high = infinity;
        if (v.low * static_cast<double>(count) == -infinity) range.low = -infinity;
      }
      range.may_be_negative_zero = range.low < 0;
      return range;
    }
    case Reduction::max:
    case Reduction::min:
      return v;
    case Reduction::amax:
      return Range::between(v.has_zero() ? 0 : std::min(std::fabs(v.low), std::fabs(v.high)),
                            std::max(std::fabs(v.low), std::fabs(v.high)), v.may_be_nan);
    case Reduction::norm:
      return Range::between(0, infinity, v.may_be_nan);
    case Reduction::var:
    case Reduction::std:
      return Range::between(0, infinity, true);
    case Reduction::argmax:
    case Reduction::argmin:
      return Range::between(0, static_cast<double>(count - 1), false);
    case Reduction::any:
    case Reduction::all:
      return Range::between(0, 1, false);
    case Reduction::logsumexp: {
      const double most = v.high + std::log(static_cast<double>(count));
      const double slack = 1e-4 * (1 + std::fabs(most));
      return {v.low == -infinity ? -infinity : v.low - 1e-4 * (1 + std::fabs(v.low)),
              v.high == infinity ? infinity : most + slack, v.may_be_nan, true};
    }
    case Reduction::sumexp:
      // The largest adds exactly 1, the others at most as much.
      return Range::between(1, static_cast<double>(count) * (1 + 1e-4),
                            v.may_be_nan || v.low == -infinity || v.high == infinity);
    case Reduction::prod:
      return Range::everything();
  }
  return Range::everything();
}

}  // namespace detail
}  // namespace postlude
