#ifndef POSTLUDE_CLI_PRINT_ARRAY_HPP
#define POSTLUDE_CLI_PRINT_ARRAY_HPP

#include <postlude.h>

#include <string>

namespace postlude {
namespace cli {

/// A host tensor of rank 2 as text in NumPy's form, with six digits. Of more than 1000 elements
/// only the first and last three of each dimension are shown.
std::string array_text(const postlude_tensor& tensor);

}  // namespace cli
}  // namespace postlude

#endif
