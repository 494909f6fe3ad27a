#ifndef POSTLUDE_PROGRAM_REWRITES_REWRITE_BUILDER_HPP
#define POSTLUDE_PROGRAM_REWRITES_REWRITE_BUILDER_HPP

#include <optional>
#include <string>
#include <vector>

#include <postlude/data_type.hpp>

#include "program/program.hpp"
#include "program/ranges/range.hpp"
#include "program/value_table.hpp"

namespace postlude {
namespace detail {

/// Makes a program value by value, and answers what rules ask of the values that are there.
class RewriteBuilder {
 public:
  /// For a program with the shapes, operands and results of `source`, and none of its values.
  /// `arithmetic` is float32 or float64; equal values become one if `shares_values`.
  RewriteBuilder(const Program& source, DataType arithmetic, bool shares_values);

  DataType arithmetic() const { return arithmetic_; }
  Program& program() { return program_; }
  const Value& value(int index) const { return program_.values[static_cast<std::size_t>(index)]; }
  const Value& input(const Value& value, std::size_t i) const {
    return this->value(value.inputs[i]);
  }

  /// Adds a value as it is, or finds an equal one: also one of the same two inputs in the other
  /// order, where IEEE 754 has the same result for both.
  int add(Value value);
  int constant(double number);
  int pointwise(Operation operation, std::vector<int> inputs);
  /// `index`, broadcast to `shape` where it is smaller.
  int expand(int index, const Shape& shape);

  /// The value behind expansions.
  int without_expansion(int index) const;
  /// The number that a value is everywhere, as the arithmetic uses it.
  std::optional<double> constant_of(int index) const;
  /// Whether it is this number everywhere, the sign of zero included.
  bool is_constant(int index, double number) const;
  /// Whether a value is this operation.
  bool is(int index, Operation operation) const;
  /// What is known of its numbers.
  const Range& range(int index) const { return ranges_[static_cast<std::size_t>(index)]; }
  /// The same of a value that was not added.
  Range range_of(const Value& value) const;

  /// "min(add(y, bias), 2)", cut off at some depth.
  std::string text(const Value& value) const;
  std::string text(int index) const { return text(value(index)); }

 private:
  /// Operations broadcast their inputs themselves: an input need not be expanded first, unless
  /// nothing else has the shape of the result.
  void drop_expansions(Value& value) const;
  std::string text(const Value& value, int depth) const;

  Program program_;
  DataType arithmetic_;
  bool shares_values_;
  ValueTable table_;
  std::vector<Range> ranges_;
};

}  // namespace detail
}  // namespace postlude

#endif
