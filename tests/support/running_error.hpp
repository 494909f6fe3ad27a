#ifndef POSTLUDE_TESTS_SUPPORT_RUNNING_ERROR_HPP
#define POSTLUDE_TESTS_SUPPORT_RUNNING_ERROR_HPP

#include <vector>

#include "reference/reference_results.hpp"

namespace postlude {
namespace test {

/// Bounds on the errors of a program's results before they are stored, by a running error analysis
/// (Higham, Accuracy and Stability of Numerical Algorithms, 3.3): value by value, what the errors
/// of its inputs can make of it plus its own rounding.
///
/// `arithmetic` is float32 or float64, and eps its epsilon:
/// - y may be off by `y_error`; operands and constants by their conversion to `arithmetic`;
/// - an input that is off by e moves a pointwise result as far as +e or -e moves the formula;
/// - an operator rounds once, a choice (min, relu, where...) not at all, square, sqrt and their
///   inverses 2 eps, any other formula 8 eps of its result and 4 eps of each input on the way;
/// - a sum over n elements adds n units of float64 of sum |v| (compensated in float64 problems: of
///   the second order), the mean likewise; var adds n float64 units of sqrt(1 + mean^2 / var)
///   (Chan, Golub and LeVeque, 1983); a reduced value is rounded to `arithmetic` when it is read.
std::vector<detail::reference::Array> running_error(const detail::Program& program,
                                                    const detail::reference::ProgramInputs& inputs,
                                                    const detail::reference::Array& y_error,
                                                    DataType arithmetic);

}  // namespace test
}  // namespace postlude

#endif
