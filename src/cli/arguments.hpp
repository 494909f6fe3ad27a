#ifndef POSTLUDE_CLI_ARGUMENTS_HPP
#define POSTLUDE_CLI_ARGUMENTS_HPP

#include <postlude.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "operands.hpp"
#include "shape.hpp"

namespace postlude {
namespace cli {

/// What every command that makes a plan takes.
struct PlanArguments {
  std::string expression;
  std::vector<Definition> definitions;
  postlude_backend backend = POSTLUDE_BACKEND_DEFAULT;
  int device = -1;
  int threads = 0;
  postlude_compute_mode compute = POSTLUDE_COMPUTE_AUTOMATIC;
  std::string engine;
  bool autotune = false;
  std::string gemm_choice_path;       ///< read when not empty
  std::string save_gemm_choice_path;  ///< written when not empty
  std::string without_rewrites;       ///< with commas between
  postlude_layout layout = POSTLUDE_ROW_MAJOR;
  /// Of results that are not indices; when absent, the plan's.
  std::optional<postlude_dtype> output_dtype;
};

struct RunArguments : PlanArguments {
  std::string x_path;
  std::string w_path;
  std::vector<std::string> output_paths;
};

/// The commands that make up their own inputs.
struct SyntheticArguments : PlanArguments {
  Shape shape;
  postlude_dtype dtype = POSTLUDE_FLOAT32;
  std::optional<std::uint64_t> seed;
};

struct ExplainArguments : SyntheticArguments {
  bool is_json = false;
  std::string machine_file;
};

struct CheckArguments : SyntheticArguments {
  std::optional<double> tolerance;  ///< when absent, that of postlude_check for each result
};

struct BenchArguments : SyntheticArguments {
  std::optional<double> tolerance;
  int repeat = 10;
  int warm_up = 2;
  bool is_json = false;
  bool is_checked = false;
};

/// bench --calibrate: only the backend, device and threads count.
struct CalibrateArguments : PlanArguments {
  std::string machine_file;
};

struct BackendsArguments {};

/// --help or --version: the text is all there is to do.
struct TextAnswer {
  std::string text;
};

using Arguments = std::variant<TextAnswer, RunArguments, CheckArguments, ExplainArguments,
                               BenchArguments, CalibrateArguments, BackendsArguments>;

/// The name of a mode as --compute takes it.
const char* compute_name(postlude_compute_mode compute);

/// Throws CliError for bad usage.
Arguments parse_arguments(int argc, char** argv);

}  // namespace cli
}  // namespace postlude

#endif
