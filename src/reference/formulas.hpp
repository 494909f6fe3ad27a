#ifndef POSTLUDE_REFERENCE_FORMULAS_HPP
#define POSTLUDE_REFERENCE_FORMULAS_HPP

#include <postlude/operation_table.hpp>

namespace postlude {
namespace detail {
namespace reference {

/// The float64 result of one pointwise operation; `inputs` are as many as its arity.
double apply(Operation operation, const double* inputs);

}  // namespace reference
}  // namespace detail
}  // namespace postlude

#endif
