#ifndef POSTLUDE_PROGRAM_CONSTANT_VALUE_HPP
#define POSTLUDE_PROGRAM_CONSTANT_VALUE_HPP

#include <postlude/data_type.hpp>
#include <postlude/operation_table.hpp>

namespace postlude {
namespace detail {

/// A number as it is when the arithmetic uses it: rounded to float32 unless `arithmetic` is
/// float64.
double rounded_constant(double value, DataType arithmetic);

/// What a stage would compute of these numbers in `arithmetic`, by the evaluator's own formula.
double constant_result(Operation operation, const double* inputs, DataType arithmetic);

}  // namespace detail
}  // namespace postlude

#endif
