#ifndef POSTLUDE_CLI_MACHINE_FILE_HPP
#define POSTLUDE_CLI_MACHINE_FILE_HPP

#include <map>
#include <optional>
#include <string>

namespace postlude {
namespace cli {

/// What one backend of this machine was measured to reach.
struct MachineLimits {
  std::string date;                  ///< UTC, ISO 8601
  int threads = 0;                   ///< of a CPU; 0 for all and on accelerators
  double copy_bytes_per_second = 0;  ///< read and written ones together
  /// Of a square GEMM, by how it is computed: "f64", "f32", "f32_fast_tf32", "f16", ...
  std::map<std::string, double> gemm_flops_per_second;
};

/// The file of limits: $POSTLUDE_MACHINE_FILE, else postlude/machine.json in $XDG_CONFIG_HOME or
/// ~/.config. Throws CliError when none of these variables is set.
std::string default_machine_file();

/// The limits of a backend; nothing when the file does not exist or has none for it. Throws
/// CliError for a file that is something else.
std::optional<MachineLimits> read_machine_limits(const std::string& path,
                                                 const std::string& backend);

/// Puts the limits of a backend in the file and keeps those of others; makes its folder.
void write_machine_limits(const std::string& path, const std::string& backend,
                          const MachineLimits& limits);

}  // namespace cli
}  // namespace postlude

#endif
