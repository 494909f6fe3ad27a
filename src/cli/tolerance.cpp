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

double default_tolerance(const SyntheticArguments& arguments,
                         const std::vector<ResultDescription>& results) {
  double tolerance = tolerance_of(arguments.dtype);
  // TF32 has the precision of float16.
  if (arguments.compute == POSTLUDE_COMPUTE_F32_FAST_TF32)
    tolerance = std::max(tolerance, tolerance_of(POSTLUDE_FLOAT16));
  for (const ResultDescription& result : results)
    if (result.dtype != POSTLUDE_INT64)  // an index is not rounded
      tolerance = std::max(tolerance, tolerance_of(result.dtype));
  return tolerance;
}

}  // namespace cli
}  // namespace postlude
