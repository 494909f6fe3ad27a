#include "support/running_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "expression/signature.hpp"
#include "reference/formulas.hpp"
#include "reference/reductions.hpp"
#include "reference/reference.hpp"
#include "support/small_float_rounding.hpp"

namespace postlude {
namespace test {
namespace {

using detail::NodeKind;
using detail::Program;
using detail::Value;
using detail::reference::Array;

constexpr double unit64 = std::numeric_limits<double>::epsilon();

enum class Rounding { none, once, twice, formula };

Rounding rounding_of(Operation operation) {
  switch (operation) {
    case Operation::negate:
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
    case Operation::equal:
    case Operation::not_equal:
    case Operation::min:
    case Operation::max:
    case Operation::clamp:
    case Operation::where:
    case Operation::abs:
    case Operation::sign:
    case Operation::floor:
    case Operation::ceil:
    case Operation::round:
    case Operation::relu:
    case Operation::relu6:
    case Operation::hardtanh:
    case Operation::threshold:
      return Rounding::none;
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::leaky_relu:
      return Rounding::once;
    case Operation::square:
    case Operation::sqrt:
    case Operation::rsqrt:
    case Operation::reciprocal:
      return Rounding::twice;
    default:
      return Rounding::formula;
  }
}

/// |b - a| where both are finite: a value that is Inf or NaN has no distance to another.
double distance(double a, double b) {
  const double difference = std::abs(b - a);
  return std::isfinite(difference) ? difference : 0;
}

class Analysis {
 public:
  Analysis(const Program& program, DataType arithmetic)
      : program_(program),
        is_float32_(arithmetic == DataType::float32),
        eps_(is_float32_ ? static_cast<double>(std::numeric_limits<float>::epsilon()) : unit64),
        smallest_(is_float32_ ? static_cast<double>(std::numeric_limits<float>::denorm_min())
                              : std::numeric_limits<double>::denorm_min()) {}

  std::vector<Array> errors(const detail::reference::ProgramInputs& inputs, const Array& y_error) {
    // Every value is a result, to have them all.
    Program all = program_;
    all.results.clear();
    for (std::size_t i = 0; i < all.values.size(); ++i)
      all.results.push_back({"", static_cast<int>(i)});
    values_ = detail::reference::evaluate(all, inputs.y, inputs.operands);
    for (std::size_t i = 0; i < values_.size(); ++i) errors_.push_back(error_of(i, y_error));
    std::vector<Array> results;
    for (const detail::ProgramResult& result : program_.results) {
      results.push_back(errors_[static_cast<std::size_t>(result.value)]);
      // The reference computes in float64 too.
      if (!is_float32_)
        for (double& error : results.back().values) error *= 2;
    }
    return results;
  }

 private:
  const Array& input(const Value& value, std::size_t i) const {
    return values_[static_cast<std::size_t>(value.inputs[i])];
  }
  const Array& input_error(const Value& value, std::size_t i) const {
    return errors_[static_cast<std::size_t>(value.inputs[i])];
  }

  Array error_of(std::size_t index, const Array& y_error) const {
    const Value& value = program_.values[index];
    switch (value.kind) {
      case NodeKind::gemm_result:
        return y_error;
      case NodeKind::constant:
      case NodeKind::operand:
        return conversion(values_[index]);
      case NodeKind::pointwise:
        return pointwise(value, values_[index]);
      case NodeKind::reduction:
        return reduction(value, values_[index]);
      case NodeKind::repeat:
        return repeat(value);
      case NodeKind::random:
        break;  // a multiple of 2^-24, exact
      case NodeKind::gemm_factors:
      case NodeKind::expand:
        break;  // only in the program that a plan executes
    }
    return Array(value.shape);
  }

  Array conversion(const Array& array) const {
    Array error(array.shape);
    if (!is_float32_) return error;
    for (std::size_t i = 0; i < array.values.size(); ++i)
      error.values[i] = distance(array.values[i], rounded_to(float32_format, array.values[i]));
    return error;
  }

  Array pointwise(const Value& value, const Array& results) const {
    const Rounding rounding = rounding_of(value.operation);
    const double own = rounding == Rounding::none    ? 0
                       : rounding == Rounding::once  ? eps_
                       : rounding == Rounding::twice ? 2 * eps_
                                                     : 8 * eps_;
    const double on_the_way = rounding == Rounding::formula ? 4 * eps_ : 0;
    const std::size_t arity = value.inputs.size();
    Array error(value.shape);
    double arguments[3] = {};
    for (std::int64_t b = 0; b < value.shape.batch; ++b)
      for (std::int64_t m = 0; m < value.shape.rows; ++m)
        for (std::int64_t n = 0; n < value.shape.columns; ++n) {
          for (std::size_t i = 0; i < arity; ++i) arguments[i] = input(value, i).at(b, m, n);
          const double result = results.at(b, m, n);
          double sum = std::isfinite(result) ? own * std::abs(result) : 0;
          for (std::size_t i = 0; i < arity; ++i) {
            const double exact = arguments[i];
            const double e = input_error(value, i).at(b, m, n) + on_the_way * std::abs(exact);
            if (!(e > 0)) continue;
            arguments[i] = exact + e;
            const double above = detail::reference::apply(value.operation, arguments);
            arguments[i] = exact - e;
            const double below = detail::reference::apply(value.operation, arguments);
            arguments[i] = exact;
            sum += std::max(distance(result, above), distance(result, below));
          }
          if (rounding != Rounding::none) sum += 4 * smallest_;
          error.at(b, m, n) = sum;
        }
    return error;
  }

  Array repeat(const Value& value) const {
    Array error(value.shape);
    for (std::int64_t b = 0; b < value.shape.batch; ++b)
      for (std::int64_t m = 0; m < value.shape.rows; ++m)
        for (std::int64_t n = 0; n < value.shape.columns; ++n)
          error.at(b, m, n) = input_error(value, 0).at(b, m, n / value.factor);
    return error;
  }

  Array reduction(const Value& value, const Array& results) const {
    Array error(value.shape);
    const Array& from = input(value, 0);
    const Array& from_error = input_error(value, 0);
    const bool by_rows = value.dim == 0;
    const std::int64_t count = value.window_size != 0 ? value.window_size
                               : by_rows              ? from.shape.rows
                                                      : from.shape.columns;
    std::vector<double> v(static_cast<std::size_t>(count));
    std::vector<double> e(v.size());
    for (std::int64_t b = 0; b < value.shape.batch; ++b)
      for (std::int64_t m = 0; m < value.shape.rows; ++m)
        for (std::int64_t n = 0; n < value.shape.columns; ++n) {
          for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t row = by_rows ? i : m;
            const std::int64_t column = by_rows ? n : n * value.window_step + i;
            v[static_cast<std::size_t>(i)] = from.at(b, row, column);
            e[static_cast<std::size_t>(i)] = from_error.at(b, row, column);
          }
          const double result = results.at(b, m, n);
          if (value.is_index() || !std::isfinite(result)) continue;
          error.at(b, m, n) = reduced(value, v, e, result) + eps_ * std::abs(result);
        }
    return error;
  }

  double reduced(const Value& value, const std::vector<double>& v, const std::vector<double>& e,
                 double result) const {
    const auto count = static_cast<double>(v.size());
    double magnitudes = 0;
    double errors = 0;
    double squared_errors = 0;
    double largest_error = 0;
    double sum = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      magnitudes += std::abs(v[i]);
      sum += v[i];
      errors += e[i];
      squared_errors += e[i] * e[i];
      largest_error = std::max(largest_error, e[i]);
    }
    const double added =
        errors + magnitudes * (is_float32_ ? count * unit64 : count * count * unit64 * unit64);
    switch (value.reduction) {
      case Reduction::sum:
        return added;
      case Reduction::mean:
        return added / count;
      case Reduction::max:
      case Reduction::min:
      case Reduction::amax:
        return largest_error;
      case Reduction::logsumexp:
        return largest_error + 4 * eps_ * std::max(1.0, std::abs(result)) + count * unit64;
      case Reduction::sumexp:
        // Every difference may be off by twice the largest error.
        return result * (std::expm1(2 * largest_error) + 8 * eps_) + count * unit64;
      case Reduction::norm:
        // The triangle inequality, for p = 2 and beyond.
        return std::sqrt(squared_errors) + (4 * eps_ + count * unit64) * result;
      case Reduction::var:
        return variance(result, value.parameter, count, sum / count, squared_errors);
      case Reduction::std: {
        const double square = result * result;
        const double e2 = variance(square, value.parameter, count, sum / count, squared_errors);
        return std::max(std::sqrt(square + e2) - result,
                        result - std::sqrt(std::max(square - e2, 0.0)));
      }
      case Reduction::prod: {
        double relative = (4 + count) * unit64;
        for (std::size_t i = 0; i < v.size(); ++i)
          if (e[i] > 0) relative += e[i] / std::abs(v[i]);
        return relative * std::abs(result);
      }
      case Reduction::any:
      case Reduction::all:
      case Reduction::argmax:
      case Reduction::argmin:
        break;
    }
    return 0;
  }

  /// The norm of (v - mean) changes by no more than the norm of the errors.
  double variance(double result, double correction, double count, double mean,
                  double squared_errors) const {
    const double freedom = std::max(count - correction, 0.0);
    if (freedom == 0) return 0;
    const double condition = result > 0 ? std::sqrt(1 + mean * mean / result) : 0;
    return 2 * std::sqrt(result * squared_errors / freedom) + squared_errors / freedom +
           (4 * eps_ + (count + 4) * condition * unit64) * result +
           (count * unit64 * mean) * (count * unit64 * mean);
  }

  const Program& program_;
  bool is_float32_;
  double eps_;
  double smallest_;
  std::vector<Array> values_;
  std::vector<Array> errors_;
};

}  // namespace

std::vector<Array> running_error(const Program& program,
                                 const detail::reference::ProgramInputs& inputs,
                                 const Array& y_error, DataType arithmetic) {
  return Analysis(program, arithmetic).errors(inputs, y_error);
}

}  // namespace test
}  // namespace postlude
