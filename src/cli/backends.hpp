#ifndef POSTLUDE_CLI_BACKENDS_HPP
#define POSTLUDE_CLI_BACKENDS_HPP

#include <postlude.h>

#include <string>
#include <vector>

namespace postlude {
namespace cli {

/// The backends that the library was built with.
std::vector<postlude_backend> built_backends();

/// The backend of a name, or POSTLUDE_BACKEND_DEFAULT for "default". Throws CliError for a name
/// that is unknown or not built in.
postlude_backend backend_of_name(const std::string& name);

}  // namespace cli
}  // namespace postlude

#endif
