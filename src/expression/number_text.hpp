#ifndef POSTLUDE_EXPRESSION_NUMBER_TEXT_HPP
#define POSTLUDE_EXPRESSION_NUMBER_TEXT_HPP

#include <string>

namespace postlude {
namespace detail {

/// A number with so many significant digits, "0.15", "1e-05", "inf", "nan": with a point in every
/// locale that the host may have set.
std::string number_text(double value, int digits = 9);

}  // namespace detail
}  // namespace postlude

#endif
