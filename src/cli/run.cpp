#include <fmt/format.h>

#include <set>
#include <vector>

#include "cli_error.hpp"
#include "commands.hpp"
#include "element_type.hpp"
#include "npy.hpp"
#include "operands.hpp"
#include "output.hpp"
#include "print_array.hpp"
#include "workload.hpp"

namespace postlude {
namespace cli {
namespace {

postlude_layout layout_of(const NpyFile& file) {
  return file.is_fortran_order() ? POSTLUDE_COLUMN_MAJOR : POSTLUDE_ROW_MAJOR;
}

// The tensor of a file of rank 2, without data.
postlude_tensor matrix_of(const NpyFile& file, const char* option, const char* dimensions) {
  if (file.shape().size() != 2)
    throw CliError(fmt::format("{} '{}' has shape {}; expected two dimensions, {}", option,
                               file.path(), file.shape_text(), dimensions));
  postlude_tensor tensor = POSTLUDE_TENSOR_INIT;
  require(postlude_tensor_matrix(&tensor, nullptr, file.dtype(), file.shape()[0], file.shape()[1],
                                 layout_of(file), POSTLUDE_HOST));
  return tensor;
}

void require_one_problem(const NpyFile& x, const NpyFile& w, postlude_compute_mode compute) {
  if (x.dtype() != w.dtype())
    throw CliError(
        fmt::format("--x '{}' is {} and --w '{}' is {}; expected one dtype: convert one "
                    "of them with .astype",
                    x.path(), element_name(x.dtype()), w.path(), element_name(w.dtype())));
  if (x.shape()[1] != w.shape()[1])
    throw CliError(
        fmt::format("--x '{}' has shape {} and --w '{}' has shape {}; expected one "
                    "in_features, their second dimension",
                    x.path(), x.shape_text(), w.path(), w.shape_text()));
  const bool is_f64 = x.dtype() == POSTLUDE_FLOAT64;
  const bool fits = compute == POSTLUDE_COMPUTE_AUTOMATIC ||
                    (compute == POSTLUDE_COMPUTE_F64   ? is_f64
                     : compute == POSTLUDE_COMPUTE_F32 ? !is_f64
                                                       : x.dtype() == POSTLUDE_FLOAT32);
  if (!fits)
    throw CliError(
        fmt::format("--compute {} does not fit --x '{}', which is {}; files are not "
                    "converted: use .astype, or leave --compute out",
                    compute_name(compute), x.path(), element_name(x.dtype())));
}

void read_into(TensorBuffer& tensor, const NpyFile& file, Progress& progress) {
  progress.phase(fmt::format("reading {}", file.path()));
  file.read(tensor.host_data());
  tensor.copy_to_backend();
}

std::vector<OutputFile> open_outputs(const RunArguments& arguments, const Workload& workload) {
  const std::size_t count = workload.results().size();
  std::vector<OutputFile> files;
  if (arguments.output_paths.empty()) return files;
  if (arguments.output_paths.size() != count) {
    std::vector<std::string> names;
    for (const ResultDescription& result : workload.results()) names.push_back(result.name);
    throw CliError(fmt::format("-o is given {} times; expected once for each result ({}), or never",
                               arguments.output_paths.size(), fmt::join(names, ", ")));
  }
  std::set<std::string> targets;
  for (const std::string& path : arguments.output_paths) {
    files.emplace_back(path);
    if (!targets.insert(files.back().target()).second)
      throw CliError(fmt::format("-o '{}' is given for two results", path));
  }
  return files;
}

}  // namespace

int run(const RunArguments& arguments) {
  const NpyFile x_file(arguments.x_path);
  const NpyFile w_file(arguments.w_path);
  const postlude_tensor x = matrix_of(x_file, "--x", "batch and in_features");
  const postlude_tensor w = matrix_of(w_file, "--w", "out_features and in_features");
  require_one_problem(x_file, w_file, arguments.compute);
  const std::int64_t batch = x.extent[0];
  const std::int64_t out_features = w.extent[0];
  matrix_bytes(batch, out_features, POSTLUDE_FLOAT64, "y");

  std::vector<OperandDescription> operands;
  std::vector<NpyFile> operand_files;
  for (const Definition& definition : arguments.definitions) {
    OperandDescription operand;
    operand.name = definition.name;
    operand.scalar = definition.number;
    if (definition.source == Definition::Source::file) {
      const NpyFile& file = operand_files.emplace_back(definition.path);
      operand.kind = operand_kind(file.path(), file.shape(), batch, out_features);
      operand.tensor =
          operand_tensor(operand.kind, file.dtype(), batch, out_features, layout_of(file));
    }
    operands.push_back(std::move(operand));
  }

  const Context context = create_context(arguments);
  Workload workload(context.get(), arguments, x, w, std::move(operands));
  std::vector<OutputFile> output_files = open_outputs(arguments, workload);

  Progress progress;
  workload.allocate();
  read_into(workload.x(), x_file, progress);
  read_into(workload.w(), w_file, progress);
  auto file = operand_files.cbegin();
  for (std::size_t i = 0; i < workload.operands().size(); ++i)
    if (workload.operands()[i].kind != POSTLUDE_SCALAR)
      read_into(workload.operand(i), *file++, progress);

  progress.phase("computing");
  workload.execute();
  workload.synchronize();
  workload.copy_outputs_to_host();

  for (std::size_t i = 0; i < output_files.size(); ++i) {
    progress.phase(fmt::format("writing {}", arguments.output_paths[i]));
    output_files[i].write(workload.output(i).on_host(), arguments.layout == POSTLUDE_COLUMN_MAJOR);
  }
  for (OutputFile& output : output_files) output.publish();
  progress.done();

  if (output_files.empty()) {
    for (std::size_t i = 0; i < workload.results().size(); ++i) {
      const ResultDescription& result = workload.results()[i];
      fmt::print("{}: {} {}\n{}\n", result.name, element_name(result.dtype),
                 shape_text({result.rows, result.columns}),
                 array_text(workload.output(i).on_host()));
    }
  }
  return exit_ok;
}

}  // namespace cli
}  // namespace postlude
