#include "arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iostream>
#include <set>
#include <utility>

#include "backends.hpp"
#include "cli_error.hpp"
#include "machine_file.hpp"

namespace postlude {
namespace cli {
namespace {

constexpr const char* description =
    "Linear layers with fused epilogues: out = EXPR, where y = x w^T.\n"
    "x is batch x in_features, w is out_features x in_features, y is batch x out_features.";

constexpr const char* run_footer =
    R"text(EXPR is mathematics on y and the names given with -D, for example
  postlude run "min(y + bias, c) - c" --x x.npy --w w.npy -D c=2 -D bias=bias.npy -o out.npy
Statements are separated by ';', results are named by 'return a, b' (one -o for each, in order).
EXPR may be '-' to be read from standard input. An EXPR that begins with '-' comes right after
the command, or last, after '--'.

-D name=VALUE, where VALUE is a number (also inf, -inf, nan, 0x1.8p3) or a .npy file. A VALUE that
reads as a number is a number; for a file of such a name write ./NAME. With y of M rows and N
columns the shape of the file says what it is:
  () or (1,) or (1, 1)  one element      (M, 1)  a column
  (N,) or (1, N)        a row            (M, N)  a matrix
A vector is always a row, as in NumPy, also when M = N: save a column as (M, 1). One element is
an element also when M or N is 1; these readings of one file give the same result.

Files are float16, float32 or float64, x and w of one type, in C or Fortran order; bfloat16 has no
.npy files. Results have the type of x and w, or that of --output-dtype; indices are int64. Those
without -o are printed. Written files are in C order, or Fortran order with --layout column.

Exit codes: 0 done, 2 bad usage or input.)text";

constexpr const char* check_footer =
    R"text(  postlude check "min(y + bias, c) - c" --shape 128,16384,16384 -D c=2 -D bias=random:row

x is uniform in [0, 1); w and random operands are uniform in +-1/sqrt(in_features). All but
scalars are stored in --dtype; in f16 and bf16 they are the numbers of f32, rounded to the nearest,
ties to even. Results are stored in --dtype too, or in --output-dtype; indices are int64.
-D name=VALUE, where VALUE is a number (also inf, -inf, nan, 0x1.8p3) or random:KIND with KIND one
of scalar, row (1 x N), col (M x 1), full (M x N), element (one number in memory).
An element is outside the tolerance T when |out - ref| > T + T |ref|, or when NaN or infinity
differs. By default T is 1e-11 for f64, 1e-4 for f32, 1e-2 for f16, bf16 and TF32: for each result
that of the inputs or its own, whichever is larger. The same seed gives the same numbers on every machine
and backend.

Exit codes: 0 all elements within tolerance, 1 some are not, 2 bad usage or input.)text";

constexpr const char* explain_footer =
    R"text(  postlude explain "gelu(y + bias)" --shape 1024,8192,8192 -D bias=random:row

Where the limits of this machine have been measured, by 'postlude bench --calibrate', it also says
which of them limits the GEMM and each stage, and the time that follows.

-D and dtypes as in 'postlude check'. Exit codes: 0 done, 2 bad usage or input.)text";

constexpr const char* bench_footer =
    R"text(  postlude bench "gelu(y + bias)" --shape 1024,8192,8192 -D bias=random:row --json

Inputs, -D and dtypes as in 'postlude check'. Times are medians of --repeat samples; a sample is
one execution, or several when they are short. The limit is measured in the same run: the bare GEMM
(the program 'y' on the same problem, its result in --dtype), its samples taken in turn with the
program's, and on CPUs the speed of a memory copy.

  postlude bench --calibrate --backend cuda

measures the speed of a sweep that copies and of square GEMMs, and keeps them in --machine for
'postlude explain'.

Exit codes: 0 done, 1 --check found elements outside tolerance, 2 bad usage or input.)text";

// Text as CLI11 stores it, before it is given meaning.
struct PlanText {
  std::string expression;
  std::vector<std::string> definitions;
  std::string backend = "default";
  int device = -1;
  int threads = 0;
  std::string compute = "auto";
  std::string engine;
  bool autotune = false;
  std::string gemm_choice;
  std::string save_gemm_choice;
  std::vector<std::string> without_rewrites;
  std::string layout = "row";
  std::string output_dtype;
};

constexpr std::array<std::pair<const char*, postlude_dtype>, 4> dtypes{{
    {"f16", POSTLUDE_FLOAT16},
    {"bf16", POSTLUDE_BFLOAT16},
    {"f32", POSTLUDE_FLOAT32},
    {"f64", POSTLUDE_FLOAT64},
}};

CLI::IsMember is_dtype() {
  std::vector<std::string> names;
  for (const auto& [name, dtype] : dtypes) names.emplace_back(name);
  return CLI::IsMember(names);
}

postlude_dtype dtype_of_name(const std::string& text) {
  for (const auto& [name, dtype] : dtypes)
    if (text == name) return dtype;
  throw CliError(fmt::format("'{}' is no dtype", text));
}

constexpr std::array<std::pair<const char*, postlude_compute_mode>, 5> compute_modes{{
    {"auto", POSTLUDE_COMPUTE_AUTOMATIC},
    {"f64", POSTLUDE_COMPUTE_F64},
    {"f32", POSTLUDE_COMPUTE_F32},
    {"f32_emulated_f16x3", POSTLUDE_COMPUTE_F32_EMULATED_F16X3},
    {"f32_fast_tf32", POSTLUDE_COMPUTE_F32_FAST_TF32},
}};

postlude_compute_mode compute_of_name(const std::string& text) {
  for (const auto& [name, compute] : compute_modes)
    if (text == name) return compute;
  throw CliError(fmt::format("'{}' is no compute mode", text));
}

void add_plan_options(CLI::App& command, PlanText& text) {
  command.add_option("EXPR", text.expression, "The epilogue; '-' reads it from standard input")
      ->required();
  command.add_option("-D,--define", text.definitions, "name=VALUE, an operand; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--backend", text.backend, "One of 'postlude backends', or default")
      ->capture_default_str();
  command.add_option("--device", text.device, "Number of the accelerator; -1 is the current one")
      ->capture_default_str();
  command.add_option("--threads", text.threads, "Host threads; 0 is all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--compute", text.compute, "Arithmetic of the linear layer")
      ->check(CLI::IsMember({"auto", "f64", "f32", "f32_emulated_f16x3", "f32_fast_tf32"}))
      ->capture_default_str();
  command.add_option("--engine", text.engine, "GEMM engine; see 'postlude explain'");
  command.add_flag("--autotune", text.autotune,
                   "Time the algorithms of the vendor's GEMM and take the fastest");
  command
      .add_option("--gemm-choice", text.gemm_choice,
                  "Engine and algorithm of the GEMM from a file of --save-gemm-choice")
      ->type_name("FILE");
  command
      .add_option("--save-gemm-choice", text.save_gemm_choice,
                  "Writes engine and algorithm of the GEMM, for later commands")
      ->type_name("FILE");
  command
      .add_option("--without-rewrite", text.without_rewrites,
                  "A rewrite to leave out, or all; repeatable; see 'postlude explain'")
      ->type_name("NAME|all")
      ->allow_extra_args(false);
  command.add_option("--layout", text.layout, "Order of the results' elements")
      ->check(CLI::IsMember({"row", "column"}))
      ->capture_default_str();
  command
      .add_option("--output-dtype", text.output_dtype,
                  "Element type of results that are not indices; that of the inputs when absent")
      ->check(is_dtype());
}

struct SyntheticText {
  std::string shape;
  std::string dtype = "f32";
  std::string seed;
};

void add_synthetic_options(CLI::App& command, SyntheticText& text) {
  command.add_option("--shape", text.shape, "batch,in_features,out_features")
      ->type_name("M,K,N")
      ->required();
  command.add_option("--dtype", text.dtype, "Element type of the inputs")
      ->check(is_dtype())
      ->capture_default_str();
  command.add_option("--seed", text.seed, "Seed of the random numbers; a fresh one when absent")
      ->type_name("UINT");
}

void add_tolerance(CLI::App& command, std::optional<double>& tolerance) {
  command.add_option("--tolerance", tolerance,
                     "Absolute and relative; the one of the element types when absent");
}

void add_machine_file(CLI::App& command, std::string& path) {
  command
      .add_option(
          "--machine", path,
          "File of measured limits; $POSTLUDE_MACHINE_FILE or ~/.config/postlude/machine.json "
          "when absent")
      ->type_name("FILE");
}

std::string read_expression() {
  constexpr std::size_t longest = std::size_t{1} << 26;
  std::string text;
  std::vector<char> part(1 << 16);
  while (std::cin.read(part.data(), static_cast<std::streamsize>(part.size())) ||
         std::cin.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > longest)
      throw CliError(
          fmt::format("the expression on standard input is longer than {} bytes", longest));
  }
  const std::size_t zero = text.find('\0');
  if (zero != std::string::npos)
    throw CliError(fmt::format("the expression on standard input has a NUL at byte {}", zero));
  return text;
}

void take_plan_options(PlanText& text, PlanArguments& arguments) {
  std::set<std::string> names;
  for (const std::string& definition : text.definitions) {
    arguments.definitions.push_back(parse_definition(definition));
    const std::string& name = arguments.definitions.back().name;
    if (!names.insert(name).second)
      throw CliError(fmt::format("-D '{}': {} is defined twice", definition, name));
  }
  arguments.backend = backend_of_name(text.backend);
  arguments.device = text.device;
  arguments.threads = text.threads;
  arguments.engine = text.engine;
  arguments.autotune = text.autotune;
  arguments.gemm_choice_path = text.gemm_choice;
  arguments.save_gemm_choice_path = text.save_gemm_choice;
  for (const std::string& name : text.without_rewrites)
    arguments.without_rewrites += (arguments.without_rewrites.empty() ? "" : ",") + name;
  arguments.compute = compute_of_name(text.compute);
  if (!text.output_dtype.empty()) arguments.output_dtype = dtype_of_name(text.output_dtype);
  arguments.layout = text.layout == "column" ? POSTLUDE_COLUMN_MAJOR : POSTLUDE_ROW_MAJOR;
  arguments.expression = text.expression == "-" ? read_expression() : std::move(text.expression);
}

// By itself CLI11 takes -1 for 2^64 - 1.
std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [next, fault] = std::from_chars(text.data(), end, seed);
  if (fault != std::errc() || next != end)
    throw CliError(fmt::format("--seed '{}': expected an integer from 0 to 2^64 - 1", text));
  return seed;
}

void take_synthetic_options(const CLI::App& command, const SyntheticText& text,
                            SyntheticArguments& arguments) {
  arguments.shape = parse_shape(text.shape);
  arguments.dtype = dtype_of_name(text.dtype);
  if (command.count("--seed") > 0) arguments.seed = parse_seed(text.seed);
  for (const Definition& definition : arguments.definitions) {
    if (definition.source == Definition::Source::file)
      throw CliError(
          fmt::format("-D {0}={1}: '{1}' is neither a number nor random:KIND; files are "
                      "for 'postlude run'",
                      definition.name, definition.path));
  }
}

void require_tolerance(const std::optional<double>& tolerance) {
  if (tolerance && !(*tolerance > 0 && std::isfinite(*tolerance)))
    throw CliError(
        fmt::format("--tolerance {}: expected a finite number greater than 0", *tolerance));
}

// True for what can only be an expression although it begins with '-': "-y", "-(y + 1)", "--y*2".
bool is_dashed_expression(CLI::App& command, const std::string& argument) {
  if (argument.size() < 2 || argument[0] != '-') return false;
  if (argument[1] != '-') return command.get_option_no_throw(argument.substr(0, 2)) == nullptr;
  const std::string name = argument.substr(0, argument.find('='));
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") != std::string::npos;
}

}  // namespace

const char* compute_name(postlude_compute_mode compute) {
  for (const auto& [name, mode] : compute_modes)
    if (mode == compute) return name;
  return "?";
}

Arguments parse_arguments(int argc, char** argv) {
  CLI::App app(description, "postlude");
  app.set_version_flag("--version", fmt::format("postlude {}", postlude_version_string()));
  app.require_subcommand(1);
  app.footer("'postlude COMMAND --help' tells about a command.");

  PlanText plan;
  SyntheticText synthetic;
  RunArguments run;
  CheckArguments check;
  ExplainArguments explain;
  BenchArguments bench;
  std::string machine_file;

  CLI::App& run_command = *app.add_subcommand("run", "Computes EXPR on .npy files");
  add_plan_options(run_command, plan);
  run_command.add_option("--x", run.x_path, "x, batch x in_features")
      ->type_name("FILE.npy")
      ->required();
  run_command.add_option("--w", run.w_path, "w, out_features x in_features")
      ->type_name("FILE.npy")
      ->required();
  run_command.add_option("-o,--output", run.output_paths, "File for a result; once per result")
      ->type_name("FILE.npy")
      ->allow_extra_args(false);
  run_command.footer(run_footer);

  CLI::App& check_command =
      *app.add_subcommand("check", "Compares EXPR on random inputs with a float64 reference");
  add_plan_options(check_command, plan);
  add_synthetic_options(check_command, synthetic);
  add_tolerance(check_command, check.tolerance);
  check_command.footer(check_footer);

  CLI::App& explain_command =
      *app.add_subcommand("explain", "Prints the program and how it will be computed");
  add_plan_options(explain_command, plan);
  add_synthetic_options(explain_command, synthetic);
  explain_command.add_flag("--json", explain.is_json, "Print one JSON object instead of text");
  add_machine_file(explain_command, machine_file);
  explain_command.footer(explain_footer);

  CLI::App& bench_command = *app.add_subcommand("bench", "Measures EXPR on random inputs");
  add_plan_options(bench_command, plan);
  add_synthetic_options(bench_command, synthetic);
  add_tolerance(bench_command, bench.tolerance);
  bench_command.add_option("--repeat", bench.repeat, "Samples taken")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  bench_command.add_option("--warm-up", bench.warm_up, "Executions before the first sample")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  bench_command.add_flag("--json", bench.is_json, "Print one JSON object instead of text");
  bench_command.add_flag("--check", bench.is_checked,
                         "Also compare with the float64 reference, as 'postlude check'");
  bool is_calibration = false;
  bench_command.add_flag("--calibrate", is_calibration,
                         "Measure this machine's limits for 'postlude explain' instead of EXPR");
  add_machine_file(bench_command, machine_file);
  bench_command.footer(bench_footer);

  const CLI::App& backends_command =
      *app.add_subcommand("backends", "Lists the backends that were built in");

  std::vector<std::string> words(argv + 1, argv + argc);
  const auto is_command = [&](const CLI::App* command) { return command->get_name() == words[0]; };
  if (!words.empty() && words[0].substr(0, 1) != "-" && app.get_subcommands(is_command).empty())
    throw CliError(
        fmt::format("'{}' is no command; expected run, check, explain, bench or "
                    "backends",
                    words[0]));
  if (words.size() > 1) {
    const auto chosen = app.get_subcommands(is_command);
    if (!chosen.empty() && is_dashed_expression(*chosen.front(), words[1])) {
      const std::string expression = words[1];
      words.erase(words.begin() + 1);
      words.insert(words.end(), {"--", expression});
    }
  }

  if (std::find(words.begin(), words.end(), "--calibrate") != words.end())
    for (const char* const needless : {"EXPR", "--shape"})
      bench_command.get_option(needless)->required(false);

  try {
    // CLI11 takes the words in reverse.
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    return TextAnswer{chosen.empty() ? app.help() : chosen.front()->help("postlude")};
  } catch (const CLI::CallForVersion& version) {
    return TextAnswer{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "" : " " + chosen.front()->get_name();
    throw CliError(fmt::format("{}\n'postlude{} --help' has the usage.", error.what(), command));
  }

  if (run_command.parsed()) {
    take_plan_options(plan, run);
    if (run.output_dtype == POSTLUDE_BFLOAT16)
      throw CliError(
          "--output-dtype bf16: .npy files cannot hold bfloat16; expected f16, f32 or f64");
    for (const Definition& definition : run.definitions) {
      if (definition.source == Definition::Source::random)
        throw CliError(
            fmt::format("-D {}=random:...: random operands are for 'postlude check', "
                        "'explain' and 'bench'",
                        definition.name));
    }
    return run;
  }
  if (check_command.parsed()) {
    require_tolerance(check.tolerance);
    take_plan_options(plan, check);
    take_synthetic_options(check_command, synthetic, check);
    return check;
  }
  if (explain_command.parsed()) {
    take_plan_options(plan, explain);
    take_synthetic_options(explain_command, synthetic, explain);
    explain.machine_file = machine_file.empty() ? default_machine_file() : machine_file;
    return explain;
  }
  if (bench_command.parsed() && is_calibration) {
    CalibrateArguments calibrate;
    calibrate.backend = backend_of_name(plan.backend);
    calibrate.device = plan.device;
    calibrate.threads = plan.threads;
    calibrate.machine_file = machine_file.empty() ? default_machine_file() : machine_file;
    return calibrate;
  }
  if (bench_command.parsed()) {
    require_tolerance(bench.tolerance);
    take_plan_options(plan, bench);
    take_synthetic_options(bench_command, synthetic, bench);
    return bench;
  }
  if (backends_command.parsed()) return BackendsArguments{};
  throw CliError("no command was given");
}

}  // namespace cli
}  // namespace postlude
