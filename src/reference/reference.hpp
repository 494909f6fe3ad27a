#ifndef POSTLUDE_REFERENCE_REFERENCE_HPP
#define POSTLUDE_REFERENCE_REFERENCE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace postlude {
namespace detail {

/// The oracle: what a program must give, in float64, one operation at a time on whole arrays with
/// the standard library's functions. Shares no code with src/evaluator, which it checks.
namespace reference {

/// A batch of matrices of float64, the last dimension contiguous.
struct Array {
  Array() = default;
  explicit Array(const Shape& extents)
      : shape(extents), values(static_cast<std::size_t>(extents.elements())) {}

  double& at(std::int64_t batch, std::int64_t row, std::int64_t column) {
    return values[offset(batch, row, column)];
  }
  double at(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    return values[offset(batch, row, column)];
  }

  Shape shape;
  std::vector<double> values;

 private:
  /// An extent of 1 broadcasts.
  std::size_t offset(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    const std::int64_t b = shape.batch == 1 ? 0 : batch;
    const std::int64_t m = shape.rows == 1 ? 0 : row;
    const std::int64_t n = shape.columns == 1 ? 0 : column;
    return static_cast<std::size_t>((b * shape.rows + m) * shape.columns + n);
  }
};

/// The results of `program`, in its order. `y` may be empty when the program does not use it;
/// `operands` belong to the program's operands, in order, and may be empty where one is unused.
/// Throws Error(internal_error) for arrays of another shape than the program has.
std::vector<Array> evaluate(const Program& program, Array y, const std::vector<Array>& operands);

}  // namespace reference
}  // namespace detail
}  // namespace postlude

#endif
