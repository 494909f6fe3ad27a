#ifndef POSTLUDE_PERF_CHECK_HPP
#define POSTLUDE_PERF_CHECK_HPP

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "case.hpp"
#include "data.hpp"

namespace postlude {
namespace perf {

/// How far a result is from its float64 reference.
struct Check {
  std::string checked;  ///< "all", "12 of 1024 rows" or "64 of 8192 columns"
  double tolerance = 0;
  std::int64_t elements = 0;
  std::int64_t violations = 0;
  double largest_absolute_error = 0;
  double largest_relative_error = 0;
};

/// The tolerance of a dtype, absolute and relative.
double tolerance_of(DataType dtype);

/// Compares `output`, a result of `what` for one copy of the inputs, with the float64 reference:
/// all of it when the GEMM takes at most `most_flops` or no part of the result depends on a part
/// of the inputs alone, else rows or columns drawn at random.
Check check(const ExecutionSpace& space, const Case& what, const Inputs& inputs, int copy,
            const DeviceTensor& output, double most_flops, std::mt19937_64& random);

}  // namespace perf
}  // namespace postlude

#endif
