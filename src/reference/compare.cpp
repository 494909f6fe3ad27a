#include <postlude/check.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <utility>

#include <postlude/error.hpp>

#include "execute/plan_implementation.hpp"
#include "reference/reference_results.hpp"

namespace postlude {
namespace {

using detail::Shape;
using detail::reference::Array;
using detail::reference::ReferenceResult;

/// Takes the elements of one result, one after another.
class Comparison {
 public:
  Comparison(std::string name, double tolerance) : tolerance_(tolerance) {
    result_.name = std::move(name);
    result_.tolerance = tolerance;
  }

  void take(double value, double expected) {
    ++result_.elements;
    if (std::isnan(value) && std::isnan(expected)) return;
    if (value == expected) return;
    if (!std::isfinite(value) || !std::isfinite(expected)) return take_mismatch();
    const double error = std::abs(value - expected);
    const double size = std::abs(expected);
    result_.largest_absolute_error = std::max(result_.largest_absolute_error, error);
    if (size > tolerance_)
      result_.largest_relative_error = std::max(result_.largest_relative_error, error / size);
    if (error > tolerance_ + tolerance_ * size) ++result_.violations;
  }

  /// An element that is wrong without a measure of how much.
  void take_mismatch() {
    ++result_.violations;
    result_.largest_absolute_error = std::numeric_limits<double>::infinity();
    result_.largest_relative_error = std::numeric_limits<double>::infinity();
  }

  CheckResult take() { return std::move(result_); }

 private:
  double tolerance_;
  CheckResult result_;
};

/// The least magnitude that rounds to infinity: half a unit above the largest finite number.
double overflow_threshold(DataType dtype) {
  switch (dtype) {
    case DataType::float32:
      return 0x1.ffffffp127;
    case DataType::float16:
      return 65520;
    case DataType::bfloat16:
      return 0x1.ffp127;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

/// The reference value as the output's dtype can hold it: beyond its range, an infinity.
double as_stored(double value, DataType dtype) {
  if (!(std::abs(value) >= overflow_threshold(dtype))) return value;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

/// An index is right when the element there is as large, or small, as the one that the reference
/// chose.
void compare_index(double index, const ReferenceResult& expected, std::int64_t batch,
                   std::int64_t row, std::int64_t column, Comparison& comparison) {
  const double chosen = expected.value.at(batch, row, column);
  const Shape& shape = expected.searched.shape;
  const std::int64_t extent = expected.dim == 0 ? shape.rows : shape.columns;
  if (!(index >= 0 && index < static_cast<double>(extent))) return comparison.take_mismatch();
  const auto element = [&](double at) {
    const auto position = static_cast<std::int64_t>(at);
    return expected.dim == 0 ? expected.searched.at(batch, position, column)
                             : expected.searched.at(batch, row, position);
  };
  // The first NaN is the only right one.
  if (std::isnan(element(chosen)) && index != chosen) return comparison.take_mismatch();
  comparison.take(element(index), element(chosen));
}

CheckResult compare(const std::string& name, const Tensor& output, const ReferenceResult& expected,
                    double tolerance) {
  const Shape& shape = expected.value.shape;
  const Array values = detail::reference::read(output, shape);
  Comparison comparison(name, tolerance);
  for (std::int64_t batch = 0; batch < shape.batch; ++batch)
    for (std::int64_t row = 0; row < shape.rows; ++row)
      for (std::int64_t column = 0; column < shape.columns; ++column) {
        const double value = values.at(batch, row, column);
        if (expected.is_index)
          compare_index(value, expected, batch, row, column, comparison);
        else
          comparison.take(value, as_stored(expected.value.at(batch, row, column), output.dtype));
      }
  return comparison.take();
}

/// With a point in every locale.
std::string text_of(double value) {
  std::ostringstream stream;
  stream.imbue(std::locale::classic());
  stream << value;
  return stream.str();
}

/// For one result of a plan, by what it and the problem can hold.
double tolerance_of(const LinearProblem& problem, const ReferenceResult& expected,
                    DataType stored) {
  const bool is_tf32 = problem.compute == ComputeMode::f32_fast_tf32;
  const double of_problem = default_tolerance(is_tf32 ? DataType::float16 : problem.x.dtype);
  return expected.is_index ? of_problem : std::max(of_problem, default_tolerance(stored));
}

}  // namespace

double default_tolerance(DataType dtype) noexcept {
  switch (dtype) {
    case DataType::float64:
      return 1e-11;
    case DataType::float16:
    case DataType::bfloat16:
      return 1e-2;
    default:
      return 1e-4;
  }
}

std::vector<CheckResult> compare_with_reference(const Plan& plan, const Arguments& arguments,
                                                double tolerance) {
  if (!std::isfinite(tolerance) || tolerance < 0)
    throw Error(Status::invalid_argument,
                "tolerance is " + text_of(tolerance) +
                    ": expected a finite number that is positive, or 0 for the default");
  const std::vector<ReferenceResult> expected =
      detail::reference::expected_results(plan, arguments);
  std::vector<CheckResult> results;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Tensor& output = arguments.outputs[i];
    const double used =
        tolerance > 0 ? tolerance
                      : tolerance_of(plan.implementation().problem(), expected[i], output.dtype);
    results.push_back(compare(plan.result_name(i), output, expected[i], used));
  }
  return results;
}

}  // namespace postlude
