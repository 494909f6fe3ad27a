#ifndef POSTLUDE_GEMM_EMPTY_SUMS_HPP
#define POSTLUDE_GEMM_EMPTY_SUMS_HPP

#include <cstdint>

#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// y of a product with K = 0, in memory of a host.
inline void write_empty_sums(const GemmProblem& problem, float* y) {
  for (std::int64_t batch = 0; batch < problem.batch; ++batch)
    for (std::int64_t row = 0; row < problem.m; ++row)
      for (std::int64_t column = 0; column < problem.n; ++column)
        y[batch * problem.y.batch + row * problem.y.row + column * problem.y.column] = 0;
}

}  // namespace detail
}  // namespace postlude

#endif
