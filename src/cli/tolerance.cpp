#include "tolerance.hpp"

#include <algorithm>

namespace postlude {
namespace cli {
namespace {

// What postlude_check takes for 0. It is given these numbers all the same, since it does not tell
// which one it took, and a report has to.
double tolerance_of(postlude_dtype dtype) {
  switch (dtype) {
    case POSTLUDE_FLOAT64:
      return 1e-11;
    case POSTLUDE_FLOAT16:
    case POSTLUDE_BFLOAT16:
      return 1e-2;
    default:
      return 1e-4;
  }
}

}  // namespace

double default_tolerance(postlude_dtype dtype, const std::vector<ResultDescription>& results) {
  double tolerance = tolerance_of(dtype);
  for (const ResultDescription& result : results)
    if (result.dtype != POSTLUDE_INT64)  // an index is not rounded
      tolerance = std::max(tolerance, tolerance_of(result.dtype));
  return tolerance;
}

}  // namespace cli
}  // namespace postlude
