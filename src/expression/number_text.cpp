#include "expression/number_text.hpp"

#include <cmath>
#include <locale>
#include <sstream>

namespace postlude {
namespace detail {

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "nan";  // not "-nan": the sign of a NaN says nothing
  std::ostringstream stream;
  stream.imbue(std::locale::classic());
  stream.precision(digits);
  stream << value;
  return stream.str();
}

}  // namespace detail
}  // namespace postlude
