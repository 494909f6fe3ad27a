#ifndef POSTLUDE_REFERENCE_REDUCTIONS_HPP
#define POSTLUDE_REFERENCE_REDUCTIONS_HPP

#include <vector>

#include <postlude/operation_table.hpp>

namespace postlude {
namespace detail {
namespace reference {

/// The float64 result of reducing `elements`; `parameter` is the reduction's number. An index is
/// given as a double, and is -1 when there are no elements.
double reduce(Reduction reduction, const std::vector<double>& elements, double parameter);

}  // namespace reference
}  // namespace detail
}  // namespace postlude

#endif
