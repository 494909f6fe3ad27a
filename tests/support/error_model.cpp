#include "support/error_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include <postlude/check.hpp>

#include "execute/plan_implementation.hpp"
#include "reference/reference_gemm.hpp"
#include "support/catch.hpp"

namespace postlude {
namespace test {
namespace {

using detail::Program;
using detail::Shape;
using detail::Value;
using detail::reference::ProgramInputs;

double smallest_number(DataType dtype) {
  return dtype == DataType::float32 ? static_cast<double>(std::numeric_limits<float>::denorm_min())
                                    : std::numeric_limits<double>::denorm_min();
}

Array scaled(Array array, double factor) {
  for (double& value : array.values) value *= factor;
  return array;
}

/// Results of the program with one input changed by a few units in the last place, for each input.
std::vector<std::vector<Array>> changed_results(const Program& program, const ProgramInputs& inputs,
                                                double eps) {
  std::vector<std::vector<Array>> results;
  const double factor = 1 + 4 * eps;
  if (program.uses_y())
    results.push_back(
        detail::reference::evaluate(program, scaled(inputs.y, factor), inputs.operands));
  for (std::size_t i = 0; i < inputs.operands.size(); ++i) {
    if (!program.operands[i].is_used) continue;
    std::vector<Array> operands = inputs.operands;
    operands[i] = scaled(operands[i], factor);
    results.push_back(detail::reference::evaluate(program, inputs.y, operands));
  }
  return results;
}

/// The longest of the program's reductions, 0 without any.
std::int64_t longest_reduction(const Program& program) {
  std::int64_t longest = 0;
  for (const Value& value : program.values) {
    if (value.kind != detail::NodeKind::reduction) continue;
    const Shape& shape = program.values[static_cast<std::size_t>(value.inputs[0])].shape;
    longest = std::max(longest, value.dim == 0 ? shape.rows : shape.columns);
  }
  return longest;
}

std::string place(std::int64_t batch, std::int64_t row, std::int64_t column) {
  return "[" + std::to_string(batch) + ", " + std::to_string(row) + ", " + std::to_string(column) +
         "]";
}

std::string digits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

bool agrees(double value, double expected, double allowed, DataType dtype) {
  if (std::isnan(value) || std::isnan(expected)) return std::isnan(value) && std::isnan(expected);
  if (std::isinf(expected)) return value == expected;
  // Beyond float32's range the right value is an infinity; within a factor of 4, which is what the
  // tests' data can scale by, an intermediate value may have been beyond it.
  const double largest = static_cast<double>(std::numeric_limits<float>::max());
  if (dtype == DataType::float32 && std::abs(expected) > largest / 4 && std::isinf(value))
    return std::signbit(value) == std::signbit(expected);
  return std::abs(value - expected) <= allowed;
}

}  // namespace

double epsilon(DataType dtype) {
  return dtype == DataType::float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                    : std::numeric_limits<double>::epsilon();
}

std::vector<Array> allowed_errors(const Workload& workload) {
  const Program& program = workload.plan().implementation().program();
  const ProgramInputs inputs =
      detail::reference::program_inputs(workload.plan(), workload.host_arguments());
  const DataType dtype = workload.settings().dtype;
  const double eps = epsilon(dtype);
  const std::int64_t additions = longest_reduction(program);
  const double relative = 8 * eps + static_cast<double>(additions) * epsilon(DataType::float64);
  const double absolute = 256 * smallest_number(dtype) + (additions > 0 ? 4 * eps : 0);

  std::vector<Array> allowed = detail::reference::evaluate(program, inputs.y, inputs.operands);
  const std::vector<Array> exact = allowed;
  const auto changed = changed_results(program, inputs, eps);
  for (std::size_t result = 0; result < allowed.size(); ++result)
    for (std::size_t i = 0; i < allowed[result].values.size(); ++i) {
      const double value = exact[result].values[i];
      double change = 0;
      for (const std::vector<Array>& other : changed)
        change += std::abs(other[result].values[i] - value);
      const double limit = 512 * eps * std::max(1.0, std::abs(value));
      allowed[result].values[i] = relative * std::abs(value) + absolute + std::fmin(change, limit);
    }
  return allowed;
}

Array gemm_error_bound(Workload& workload) {
  TestTensor x = workload.x();
  TestTensor w = workload.w();
  for (TestTensor* tensor : {&x, &w}) {
    std::vector<double> magnitudes = tensor->elements();
    for (double& value : magnitudes) value = std::abs(value);
    tensor->fill(magnitudes);
  }
  const double factor =
      static_cast<double>(workload.settings().k + 2) * epsilon(workload.settings().dtype);
  return scaled(detail::reference::multiply(x.host(), w.host()), factor);
}

void check_elements(const TestTensor& output, const Array& expected, const Array& allowed) {
  const Shape& shape = expected.shape;
  const Array values = detail::reference::read(output.host(), shape);
  std::int64_t violations = 0;
  std::string first;
  for (std::int64_t b = 0; b < shape.batch; ++b)
    for (std::int64_t m = 0; m < shape.rows; ++m)
      for (std::int64_t n = 0; n < shape.columns; ++n) {
        const double value = values.at(b, m, n);
        if (agrees(value, expected.at(b, m, n), allowed.at(b, m, n), output.dtype())) continue;
        if (violations++ == 0)
          first = place(b, m, n) + " is " + digits(value) + ", expected " +
                  digits(expected.at(b, m, n)) + " +- " + digits(allowed.at(b, m, n)) +
                  ", off by " + digits(value - expected.at(b, m, n));
      }
  INFO(first);
  CHECK(violations == 0);
}

void check_linear(const Settings& settings) {
  Random random;
  INFO(random.hint());
  INFO(describe(settings));
  Workload workload(settings, "y");
  workload.fill_real(random);
  workload.execute();
  check_elements(workload.output(),
                 detail::reference::multiply(workload.x().host(), workload.w().host()),
                 gemm_error_bound(workload));
}

void check_exact(Workload& workload) {
  const auto expected =
      detail::reference::expected_results(workload.plan(), workload.host_arguments());
  const std::vector<Array> allowed = allowed_errors(workload);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("result " << workload.plan().result_name(i));
    const Array none(expected[i].value.shape);
    check_elements(workload.output(i), expected[i].value, expected[i].is_index ? none : allowed[i]);
  }
}

void check_real(Workload& workload) {
  for (const CheckResult& result :
       compare_with_reference(workload.plan(), workload.host_arguments())) {
    INFO("result " << result.name << ": largest absolute error " << result.largest_absolute_error
                   << ", largest relative error " << result.largest_relative_error);
    CHECK(result.violations == 0);
  }
}

}  // namespace test
}  // namespace postlude
