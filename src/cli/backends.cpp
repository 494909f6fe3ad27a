#include "backends.hpp"

#include <fmt/format.h>

#include "cli_error.hpp"
#include "commands.hpp"

namespace postlude {
namespace cli {

std::vector<postlude_backend> built_backends() {
  std::vector<postlude_backend> backends;
  for (postlude_backend backend = POSTLUDE_BACKEND_SERIAL; backend <= POSTLUDE_BACKEND_SYCL;
       ++backend)
    if (postlude_backend_available(backend) != 0) backends.push_back(backend);
  return backends;
}

postlude_backend backend_of_name(const std::string& name) {
  if (name == "default") return POSTLUDE_BACKEND_DEFAULT;
  std::string known = "default";
  for (const postlude_backend backend : built_backends()) {
    if (name == postlude_backend_name(backend)) return backend;
    known += fmt::format(", {}", postlude_backend_name(backend));
  }
  throw CliError(
      fmt::format("--backend '{}' is not in this build; expected one of {}", name, known));
}

int backends() {
  for (const postlude_backend backend : built_backends())
    fmt::print("{}\n", postlude_backend_name(backend));
  return exit_ok;
}

}  // namespace cli
}  // namespace postlude
