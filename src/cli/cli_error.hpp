#ifndef POSTLUDE_CLI_CLI_ERROR_HPP
#define POSTLUDE_CLI_CLI_ERROR_HPP

#include <stdexcept>
#include <string>

namespace postlude {
namespace cli {

/// What the process answers with.
enum ExitCode : int {
  exit_ok = 0,
  exit_check_failed = 1,
  exit_bad_input = 2  ///< bad usage, bad input, or a failure of the backend or the file system
};

/// Ends the command with a message on stderr and exit code 2.
class CliError : public std::runtime_error {
 public:
  explicit CliError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace cli
}  // namespace postlude

#endif
