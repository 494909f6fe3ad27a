#include "workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "cli_error.hpp"
#include "element_type.hpp"
#include "output.hpp"
#include "random_fill.hpp"

namespace postlude {
namespace cli {
namespace {

// Streams of random numbers; operand i has first_operand_stream + i.
constexpr std::uint64_t x_stream = 0;
constexpr std::uint64_t w_stream = 1;
constexpr std::uint64_t first_operand_stream = 2;

std::string read_gemm_choice(const std::string& path) {
  constexpr std::streamsize longest = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(longest), '\0');
  if (!file || !file.read(text.data(), longest).eof())
    throw CliError(
        fmt::format("--gemm-choice '{}': {}", path,
                    file ? "it is not a file of --save-gemm-choice" : std::strerror(errno)));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty() || text.find('\0') != std::string::npos)
    throw CliError(fmt::format("--gemm-choice '{}': it is not a file of --save-gemm-choice", path));
  return text;
}

UniformNumbers weights(std::uint64_t seed, std::uint64_t stream, std::int64_t in_features) {
  const double bound = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, in_features)));
  return UniformNumbers{seed, stream, -bound, bound};
}

}  // namespace

Context create_context(const PlanArguments& arguments) {
  postlude_context_options options = POSTLUDE_CONTEXT_OPTIONS_INIT;
  options.backend = arguments.backend;
  options.device = arguments.device;
  options.threads = arguments.threads;
  postlude_context* context = nullptr;
  require(postlude_context_create(&options, &context));
  return Context(context);
}

Workload::Workload(postlude_context* context, const PlanArguments& arguments,
                   const postlude_tensor& x, const postlude_tensor& w,
                   std::vector<OperandDescription> operands)
    : context_(context),
      x_description_(x),
      w_description_(w),
      layout_(arguments.layout),
      operands_(std::move(operands)) {
  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  problem.x = x;
  problem.w = w;
  problem.compute = arguments.compute;
  require(postlude_context_memory_space(context, &problem.x.memory_space));
  problem.w.memory_space = problem.x.memory_space;

  std::vector<postlude_operand> declarations;
  for (const OperandDescription& operand : operands_) {
    postlude_operand declaration = POSTLUDE_OPERAND_INIT;
    declaration.name = operand.name.c_str();
    declaration.kind = operand.kind;
    declarations.push_back(declaration);
  }
  postlude_plan_options options = POSTLUDE_PLAN_OPTIONS_INIT;
  // Otherwise the plan may keep y in the memory of a result, which then has to have y's dtype.
  const bool keeps_dtype = arguments.output_dtype.value_or(x.dtype) == x.dtype;
  options.layout = keeps_dtype ? layout_ : POSTLUDE_ANY_LAYOUT;
  if (!arguments.engine.empty()) options.engine = arguments.engine.c_str();
  options.autotune = arguments.autotune ? 1 : 0;
  std::string choice;
  if (!arguments.gemm_choice_path.empty()) {
    choice = read_gemm_choice(arguments.gemm_choice_path);
    options.gemm_choice = choice.c_str();
  }
  std::optional<OutputFile> choice_file;
  if (!arguments.save_gemm_choice_path.empty())
    choice_file.emplace(arguments.save_gemm_choice_path);
  if (!arguments.without_rewrites.empty())
    options.without_rewrites = arguments.without_rewrites.c_str();
  postlude_plan* plan = nullptr;
  require(postlude_plan_create(context, &problem, arguments.expression.c_str(), declarations.data(),
                               declarations.size(), &options, &plan));
  plan_.reset(plan);
  if (choice_file) {
    const char* chosen = nullptr;
    require(postlude_plan_gemm_choice(plan, &chosen));
    choice_file->write(std::string(chosen) + "\n");
    choice_file->publish();
  }

  std::size_t count = 0;
  require(postlude_plan_result_count(plan, &count));
  for (std::size_t i = 0; i < count; ++i) {
    postlude_result_info info = POSTLUDE_RESULT_INFO_INIT;
    require(postlude_plan_result(plan, i, &info));
    const bool is_index = info.dtype == POSTLUDE_INT64;
    const postlude_dtype dtype =
        is_index ? info.dtype : arguments.output_dtype.value_or(info.dtype);
    results_.push_back(
        ResultDescription{info.name, dtype, info.dtype, info.extent[1], info.extent[2]});
  }
}

void Workload::allocate() {
  x_.emplace(context_, x_description_);
  w_.emplace(context_, w_description_);
  allocate_operands_and_outputs();
  backend_bindings_ = bind(*this, &TensorBuffer::on_backend);
}

void Workload::allocate_with(const Workload& owner) {
  allocate_operands_and_outputs();
  backend_bindings_ = bind(owner, &TensorBuffer::on_backend);
}

void Workload::allocate_operands_and_outputs() {
  for (const OperandDescription& operand : operands_) {
    operand_buffers_.emplace_back();
    if (operand.kind != POSTLUDE_SCALAR) operand_buffers_.back().emplace(context_, operand.tensor);
  }
  for (const ResultDescription& result : results_) {
    postlude_tensor tensor = POSTLUDE_TENSOR_INIT;
    require(postlude_tensor_matrix(&tensor, nullptr, result.dtype, result.rows, result.columns,
                                   layout_, POSTLUDE_HOST));
    outputs_.emplace_back(context_, tensor);
  }
}

Workload::Bindings Workload::bind(const Workload& owner, Place place) const {
  Bindings bindings;
  bindings.view.x = (owner.x_.value().*place)();
  bindings.view.w = (owner.w_.value().*place)();
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    postlude_operand_value value = POSTLUDE_OPERAND_VALUE_INIT;
    value.scalar = operands_[i].scalar;
    if (operand_buffers_[i]) value.tensor = ((*operand_buffers_[i]).*place)();
    bindings.operands.push_back(value);
  }
  for (const TensorBuffer& output : outputs_) bindings.outputs.push_back((output.*place)());
  // Moving a vector keeps its elements where they are, so that these pointers stay valid.
  bindings.view.operands = bindings.operands.data();
  bindings.view.operand_count = bindings.operands.size();
  bindings.view.outputs = bindings.outputs.data();
  bindings.view.output_count = bindings.outputs.size();
  return bindings;
}

void Workload::poison_outputs() {
  for (TensorBuffer& output : outputs_) output.poison();
}

void Workload::execute() {
  require(postlude_execute(plan_.get(), &backend_bindings_.view, nullptr));
}

void Workload::synchronize() { require(postlude_context_synchronize(context_)); }

void Workload::copy_outputs_to_host() {
  for (TensorBuffer& output : outputs_) output.copy_to_host();
}

std::vector<postlude_check_result> Workload::check(double tolerance) {
  const Bindings bindings = bind(*this, &TensorBuffer::on_host);
  postlude_check_result initial = POSTLUDE_CHECK_RESULT_INIT;
  std::vector<postlude_check_result> checks(results_.size(), initial);
  require(postlude_check(plan_.get(), &bindings.view, tolerance, checks.data(), checks.size()));
  return checks;
}

SyntheticWorkload make_synthetic_workload(const SyntheticArguments& arguments) {
  const std::uint64_t seed = arguments.seed ? *arguments.seed : fresh_seed();
  const Shape& shape = arguments.shape;
  postlude_tensor x = POSTLUDE_TENSOR_INIT;
  postlude_tensor w = POSTLUDE_TENSOR_INIT;
  require(postlude_tensor_matrix(&x, nullptr, arguments.dtype, shape.batch, shape.in_features,
                                 POSTLUDE_ROW_MAJOR, POSTLUDE_HOST));
  require(postlude_tensor_matrix(&w, nullptr, arguments.dtype, shape.out_features,
                                 shape.in_features, POSTLUDE_ROW_MAJOR, POSTLUDE_HOST));
  std::vector<OperandDescription> operands;
  for (const Definition& definition : arguments.definitions) {
    OperandDescription operand;
    operand.name = definition.name;
    operand.kind = definition.kind;
    operand.scalar = definition.number;
    if (definition.kind != POSTLUDE_SCALAR)
      operand.tensor = operand_tensor(definition.kind, arguments.dtype, shape.batch,
                                      shape.out_features, POSTLUDE_ROW_MAJOR);
    else if (definition.source == Definition::Source::random)
      operand.scalar =
          random_number(weights(seed, first_operand_stream + operands.size(), shape.in_features));
    operands.push_back(std::move(operand));
  }
  Context context = create_context(arguments);
  Workload workload(context.get(), arguments, x, w, std::move(operands));
  return SyntheticWorkload{seed, std::move(context), std::move(workload)};
}

void fill_inputs(SyntheticWorkload& synthetic, const SyntheticArguments& arguments,
                 Progress& progress) {
  progress.phase("making random inputs");
  Workload& workload = synthetic.workload;
  workload.allocate();
  const auto fill = [&](TensorBuffer& tensor, const UniformNumbers& numbers) {
    random_fill(tensor.host_data(), arguments.dtype, tensor.elements(), numbers);
    tensor.copy_to_backend();
  };
  const std::int64_t in_features = arguments.shape.in_features;
  fill(workload.x(), UniformNumbers{synthetic.seed, x_stream, 0, 1});
  fill(workload.w(), weights(synthetic.seed, w_stream, in_features));
  for (std::size_t i = 0; i < workload.operands().size(); ++i) {
    if (workload.operands()[i].kind != POSTLUDE_SCALAR)
      fill(workload.operand(i), weights(synthetic.seed, first_operand_stream + i, in_features));
  }
}

std::string problem_text(const SyntheticArguments& arguments, const postlude_context* context) {
  postlude_backend backend = POSTLUDE_BACKEND_DEFAULT;
  require(postlude_context_backend(context, &backend));
  std::string dtype = element_name(arguments.dtype);
  if (arguments.output_dtype.value_or(arguments.dtype) != arguments.dtype)
    dtype += fmt::format(" to {}", element_name(*arguments.output_dtype));
  return fmt::format("M={} K={} N={}, {}, backend {}", arguments.shape.batch,
                     arguments.shape.in_features, arguments.shape.out_features, dtype,
                     postlude_backend_name(backend));
}

}  // namespace cli
}  // namespace postlude
