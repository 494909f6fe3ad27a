#ifndef POSTLUDE_TESTS_SUPPORT_ERROR_MODEL_HPP
#define POSTLUDE_TESTS_SUPPORT_ERROR_MODEL_HPP

#include <vector>

#include "reference/reference_results.hpp"
#include "support/workload.hpp"

namespace postlude {
namespace test {

using detail::reference::Array;

/// Distance from 1 to the next number of the dtype.
double epsilon(DataType dtype);

/// The errors that a program may have when its inputs, y included, are exact in the problem's
/// dtype (Workload::fill_exact), for each element of each result.
///
/// Every operation rounds its result, and its inputs on the way into a formula, a few times. So a
/// result may be off by 8 units in its last place, plus what a change of any one input by 4 units
/// in its last place makes of it (the conditioning of the program at this point, taken from the
/// reference). The second part is limited, so that a step such as floor's is no excuse: y is exact.
/// Each of the n additions of a reduction rounds once more in float64. A reduction such as
/// logsumexp that subtracts its largest element may be off by a few units in the last place of 1.
/// Factors below the smallest normal number have lost digits, which costs up to 256 times the
/// smallest number of all.
std::vector<Array> allowed_errors(const Workload& workload);

/// Bounds on the error of y itself: K additions and products, each rounded once, so
/// (K + 2) * epsilon * sum_k |x||w| (Higham, Accuracy and Stability of Numerical Algorithms, 3.5).
Array gemm_error_bound(Workload& workload);

/// The product y itself of fresh random numbers against the reference, with gemm_error_bound().
void check_linear(const Settings& settings);

/// Executed results against the reference, with allowed_errors(). Indices must be equal.
void check_exact(Workload& workload);

/// Executed results against the reference, as `postlude check` does: 1e-4 + 1e-4 |ref| for float32
/// and 1e-11 + 1e-11 |ref| for float64, which leaves room for the rounding errors of the GEMM (up
/// to K * epsilon of sum |x||w|, at the sizes of these tests) and the program's conditioning.
void check_real(Workload& workload);

/// One executed result against `expected` with the given errors allowed.
void check_elements(const TestTensor& output, const Array& expected, const Array& allowed);

}  // namespace test
}  // namespace postlude

#endif
