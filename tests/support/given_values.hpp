#ifndef POSTLUDE_TESTS_SUPPORT_GIVEN_VALUES_HPP
#define POSTLUDE_TESTS_SUPPORT_GIVEN_VALUES_HPP

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <postlude/plan.hpp>

namespace postlude {
namespace test {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// An operand and its value: one number for a scalar or element.
struct Given {
  std::string name;
  OperandKind kind;
  std::vector<double> values;
};

/// The first result of `epilogue` where y is one row, or one column, with exactly these values (a
/// product with 1, so that NaN and infinities come through).
///
/// Runs in every result layout; checks that all agree with each other and with the reference.
std::vector<double> on_row(DataType dtype, const std::vector<double>& values,
                           const Epilogue& epilogue, const std::vector<Given>& operands = {});
std::vector<double> on_column(DataType dtype, const std::vector<double>& values,
                              const Epilogue& epilogue, const std::vector<Given>& operands = {});

/// The single result where y is this one value.
double on_value(DataType dtype, double value, const Epilogue& epilogue,
                const std::vector<Given>& operands = {});

/// Equality in which NaN equals NaN and 0 equals -0.
bool same(double a, double b);
bool same(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace test
}  // namespace postlude

#endif
