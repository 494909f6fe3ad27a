#include "program/ranges/value_range.hpp"

#include <cmath>
#include <limits>

#include "program/constant_value.hpp"

namespace postlude {
namespace detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double below(double value, DataType arithmetic) {
  if (arithmetic == DataType::float64) return std::nextafter(value, -infinity);
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(std::nextafter(rounded, -std::numeric_limits<float>::infinity()));
}

Range range_of_constant(double constant, DataType arithmetic) {
  const double value = rounded_constant(constant, arithmetic);
  if (std::isnan(value)) return {infinity, -infinity, true, false};
  return {value, value, false, value == 0 && std::signbit(value)};
}

}  // namespace

Range widened(Range range, DataType arithmetic, double relative) {
  if (range.low > range.high) return range;
  const auto outward_low = [&](double low) {
    if (low == 0 || std::isinf(low)) return low;
    const double moved = below(low - relative * std::fabs(low), arithmetic);
    return low > 0 ? std::fmax(moved, 0.0) : moved;
  };
  const double low = outward_low(range.low);
  const double high = -outward_low(-range.high);
  // A small number may be rounded to a zero of its sign.
  if (range.low < 0) range.may_be_negative_zero = true;
  range.low = low;
  range.high = high;
  return range;
}

Range value_range(const Value& value, const RangeAssumptions& assumptions,
                  const std::function<Range(std::size_t)>& range_of_input,
                  const std::function<Shape(std::size_t)>& shape_of_input) {
  switch (value.kind) {
    case NodeKind::gemm_result:
      return assumptions.y;
    case NodeKind::operand:
      return assumptions.operands;
    case NodeKind::constant:
      return range_of_constant(value.constant, assumptions.arithmetic);
    case NodeKind::pointwise: {
      Range inputs[3];
      for (std::size_t i = 0; i < value.inputs.size(); ++i) inputs[i] = range_of_input(i);
      return pointwise_range(value.operation, inputs, assumptions.arithmetic);
    }
    case NodeKind::reduction: {
      const Shape shape = shape_of_input(0);
      const std::int64_t count = value.window_size != 0 ? value.window_size
                                 : value.dim == 0       ? shape.rows
                                                        : shape.columns;
      return reduction_range(value, range_of_input(0), count, assumptions.arithmetic);
    }
    case NodeKind::repeat:
    case NodeKind::expand:
      return range_of_input(0);
    case NodeKind::random:
      return Range::between(0, 1, false);
    case NodeKind::gemm_factors:
      return Range::everything();
  }
  return Range::everything();
}

std::vector<Range> value_ranges(const Program& program, const RangeAssumptions& assumptions) {
  std::vector<Range> ranges;
  ranges.reserve(program.values.size());
  for (const Value& value : program.values) {
    const auto input = [&](std::size_t i) { return static_cast<std::size_t>(value.inputs[i]); };
    ranges.push_back(value_range(
        value, assumptions, [&](std::size_t i) { return ranges[input(i)]; },
        [&](std::size_t i) { return program.values[input(i)].shape; }));
  }
  return ranges;
}

}  // namespace detail
}  // namespace postlude
