#ifndef POSTLUDE_CLI_COMMANDS_HPP
#define POSTLUDE_CLI_COMMANDS_HPP

#include "arguments.hpp"

namespace postlude {
namespace cli {

// Each command returns the exit code of the process, or throws CliError.

int run(const RunArguments& arguments);
int check(const CheckArguments& arguments);
int explain(const ExplainArguments& arguments);
int bench(const BenchArguments& arguments);
/// bench --calibrate: measures the machine's limits and keeps them in a file.
int calibrate(const CalibrateArguments& arguments);
int backends();

}  // namespace cli
}  // namespace postlude

#endif
