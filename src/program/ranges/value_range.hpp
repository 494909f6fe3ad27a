#ifndef POSTLUDE_PROGRAM_RANGES_VALUE_RANGE_HPP
#define POSTLUDE_PROGRAM_RANGES_VALUE_RANGE_HPP

#include <functional>
#include <vector>

#include <postlude/data_type.hpp>

#include "program/program.hpp"
#include "program/ranges/range.hpp"

namespace postlude {
namespace detail {

/// What is known of the values that a program reads.
struct RangeAssumptions {
  DataType arithmetic = DataType::float32;
  Range y;
  Range operands;  ///< every operand, scalars included
};

/// The range of `value`, whose inputs have the ranges `range_of_input(i)` and the shapes
/// `shape_of_input(i)`. Sound for every backend: rounding in the arithmetic is allowed for, and so
/// are the errors of functions, which backends evaluate differently.
Range value_range(const Value& value, const RangeAssumptions& assumptions,
                  const std::function<Range(std::size_t)>& range_of_input,
                  const std::function<Shape(std::size_t)>& shape_of_input);

/// The ranges of all values of a program.
std::vector<Range> value_ranges(const Program& program, const RangeAssumptions& assumptions);

/// The parts of value_range(): a pointwise operation on inputs of these ranges.
Range pointwise_range(Operation operation, const Range* inputs, DataType arithmetic);
/// A reduction of `count` elements of this range.
Range reduction_range(const Value& value, const Range& input, std::int64_t count,
                      DataType arithmetic);

/// The range with its ends moved to numbers of the arithmetic that are not inside it, and on by
/// `relative` of them; a sign stays.
Range widened(Range range, DataType arithmetic, double relative = 0);

}  // namespace detail
}  // namespace postlude

#endif
