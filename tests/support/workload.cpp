#include "support/workload.hpp"

#include <cmath>
#include <cstdlib>

#include <postlude/error.hpp>

#include "execute/plan_implementation.hpp"
#include "support/case_count.hpp"
#include "support/catch.hpp"

namespace postlude {
namespace test {
namespace {

std::vector<std::int64_t> with_batch(const Settings& settings, std::int64_t rows,
                                     std::int64_t columns) {
  if (settings.batch == 0) return {rows, columns};
  return {settings.batch, rows, columns};
}

TestTensor make_operand(const Settings& settings, const detail::ProgramOperand& operand) {
  const std::int64_t rows = operand.shape.rows;
  const std::int64_t columns = operand.shape.columns;
  const bool is_vector = operand.kind != OperandKind::matrix;
  if (is_vector && settings.operands == Layout::row_major)
    return TestTensor(settings.dtype, {rows * columns});
  return TestTensor(settings.dtype, {rows, columns}, settings.operands);
}

/// With the environment variable POSTLUDE_TEST_ENGINE, plans of tests that name no engine are made
/// with that one wherever it takes the problem: so every test becomes one of that engine.
Plan make_plan(const LinearProblem& problem, const Epilogue& epilogue,
               const std::vector<OperandDeclaration>& operands, PlanOptions options) {
  const char* const wanted = std::getenv("POSTLUDE_TEST_ENGINE");
  if (wanted == nullptr || *wanted == 0 || !options.engine.empty())
    return Plan(execution_space(), problem, epilogue, operands, options);
  const PlanOptions others = options;
  options.engine = wanted;
  try {
    Plan plan(execution_space(), problem, epilogue, operands, options);
    count_case(std::string("plans with the engine ") + wanted);
    return plan;
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) throw;
  }
  count_case(std::string("plans that the engine ") + wanted + " refused");
  return Plan(execution_space(), problem, epilogue, operands, others);
}

bool is_unchanged(TestTensor tensor) {
  const std::vector<unsigned char> before = tensor.bytes();
  tensor.download();
  return tensor.bytes() == before;
}

}  // namespace

Layout output_layout(const Settings& settings) {
  switch (settings.result) {
    case ResultLayout::row_major:
      return settings.has_padded_outputs ? Layout::padded_rows : Layout::row_major;
    case ResultLayout::column_major:
      return settings.has_padded_outputs ? Layout::padded_columns : Layout::column_major;
    default:
      return Layout::every_second;
  }
}

PlanOptions options_of(const Settings& settings) {
  PlanOptions options;
  options.layout = settings.result;
  options.compilation = settings.compilation;
  options.without_rewrites = settings.without_rewrites;
  options.engine = settings.engine;
  return options;
}

std::string describe(const Settings& settings) {
  const char* results[] = {"?", "row-major", "column-major", "any"};
  std::string text = std::string(name_of(settings.dtype)) + ", M=" + std::to_string(settings.m) +
                     " N=" + std::to_string(settings.n) + " K=" + std::to_string(settings.k);
  if (settings.batch != 0) text += " batch=" + std::to_string(settings.batch);
  return text + ", x " + name_of(settings.x) + ", w " + name_of(settings.w) + ", operands " +
         name_of(settings.operands) + ", results " + results[static_cast<int>(settings.result)] +
         (settings.has_padded_outputs ? " padded" : "");
}

Workload::Workload(const Settings& settings, const Epilogue& epilogue,
                   const std::vector<OperandDeclaration>& operands)
    : settings_(settings),
      x_(settings.dtype, with_batch(settings, settings.m, settings.k), settings.x),
      w_(settings.dtype, with_batch(settings, settings.n, settings.k), settings.w),
      plan_(make_plan({x_.device(), w_.device(), ComputeMode::automatic}, epilogue, operands,
                      options_of(settings))) {
  for (const detail::ProgramOperand& operand : plan_.implementation().program().operands) {
    if (operand.kind == OperandKind::scalar)
      scalars_.emplace(operand.name, 1.0);
    else
      tensors_.emplace(operand.name, make_operand(settings, operand));
  }
  for (std::size_t i = 0; i < plan_.result_count(); ++i) {
    const std::vector<std::int64_t> extents = plan_.result_extents(i);
    outputs_.emplace_back(plan_.result_dtype(i), with_batch(settings, extents[1], extents[2]),
                          output_layout(settings));
  }
}

void Workload::fill_exact(Random& random) {
  const auto next = [&] { return random.quarter(); };
  x_.fill(next);
  w_.fill(next);
  for (auto& entry : tensors_) entry.second.fill(next);
  for (auto& entry : scalars_) entry.second = next();
}

void Workload::fill_real(Random& random) {
  const double bound = 1 / std::sqrt(static_cast<double>(settings_.k));
  const auto next = [&] { return random.uniform(-bound, bound); };
  x_.fill([&] { return random.uniform(0, 1); });
  w_.fill(next);
  for (auto& entry : tensors_) entry.second.fill(next);
  for (auto& entry : scalars_) entry.second = next();
}

Arguments Workload::host_arguments() const {
  Arguments arguments;
  arguments.x = x_.host();
  arguments.w = w_.host();
  for (const auto& entry : scalars_) arguments.bindings.emplace_back(entry.first, entry.second);
  for (const auto& entry : tensors_)
    arguments.bindings.emplace_back(entry.first, entry.second.host());
  for (const TestTensor& output : outputs_) arguments.outputs.push_back(output.host());
  return arguments;
}

Arguments Workload::device_arguments() const {
  Arguments arguments;
  arguments.x = x_.device();
  arguments.w = w_.device();
  for (const auto& entry : scalars_) arguments.bindings.emplace_back(entry.first, entry.second);
  for (const auto& entry : tensors_)
    arguments.bindings.emplace_back(entry.first, entry.second.device());
  for (const TestTensor& output : outputs_) arguments.outputs.push_back(output.device());
  return arguments;
}

void Workload::execute() {
  x_.upload();
  w_.upload();
  for (auto& entry : tensors_) entry.second.upload();
  for (TestTensor& output : outputs_) output.upload();
  plan_.execute(execution_space(), device_arguments());
  fence();
  check_inputs_unchanged();
  for (TestTensor& output : outputs_) {
    output.download();
    CHECK(output.is_poison_around());
  }
}

std::vector<std::vector<unsigned char>> Workload::output_bytes() const {
  std::vector<std::vector<unsigned char>> bytes;
  for (const TestTensor& output : outputs_) bytes.push_back(output.bytes());
  return bytes;
}

void Workload::check_inputs_unchanged() const {
  CHECK(is_unchanged(x_));
  CHECK(is_unchanged(w_));
  for (const auto& entry : tensors_) CHECK(is_unchanged(entry.second));
}

}  // namespace test
}  // namespace postlude
