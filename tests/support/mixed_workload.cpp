#include "support/mixed_workload.hpp"

#include <cmath>
#include <cstdio>

#include "execute/plan_implementation.hpp"
#include "reference/reference_gemm.hpp"
#include "reference/small_floats.hpp"
#include "support/catch.hpp"
#include "support/error_model.hpp"
#include "support/running_error.hpp"
#include "support/small_float_rounding.hpp"

namespace postlude {
namespace test {
namespace {

using detail::Shape;
using detail::reference::Array;

bool is_small(DataType dtype) { return size_of(dtype) == 2; }

std::uint16_t* small_element(const TestTensor& tensor, std::int64_t i, std::int64_t j,
                             std::int64_t k) {
  const Tensor host = tensor.host();
  const std::int64_t indices[] = {i, j, k};
  std::int64_t offset = 0;
  for (int d = 0; d < host.rank; ++d) offset += indices[d] * host.stride[d];
  return static_cast<std::uint16_t*>(host.data) + offset;
}

void for_each_index(const TestTensor& tensor,
                    const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
  const Tensor host = tensor.host();
  const auto extent = [&](int d) { return d < host.rank ? host.extent[d] : 1; };
  for (std::int64_t i = 0; i < extent(0); ++i)
    for (std::int64_t j = 0; j < extent(1); ++j)
      for (std::int64_t k = 0; k < extent(2); ++k) visit(i, j, k);
}

DataType arithmetic_of(DataType dtype) {
  return dtype == DataType::float64 ? DataType::float64 : DataType::float32;
}

std::string text_of(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// `value` is a number of [expected - error, expected + error], rounded to `dtype`.
bool is_rounding_of(double value, double expected, double error, DataType dtype) {
  if (std::isnan(value) || std::isnan(expected)) return std::isnan(value) && std::isnan(expected);
  if (std::isinf(expected)) return value == expected;
  return rounded_to(dtype, expected - error) <= value &&
         value <= rounded_to(dtype, expected + error);
}

void check_result(const TestTensor& output, const Array& expected, const Array& error) {
  const Shape& shape = expected.shape;
  const Array values = detail::reference::read(output.host(), shape);
  std::int64_t violations = 0;
  std::string first;
  for (std::int64_t b = 0; b < shape.batch; ++b)
    for (std::int64_t m = 0; m < shape.rows; ++m)
      for (std::int64_t n = 0; n < shape.columns; ++n) {
        if (is_rounding_of(values.at(b, m, n), expected.at(b, m, n), error.at(b, m, n),
                           output.dtype()))
          continue;
        if (violations++ == 0)
          first = "[" + std::to_string(b) + ", " + std::to_string(m) + ", " + std::to_string(n) +
                  "] is " + text_of(values.at(b, m, n)) + ", expected " +
                  text_of(expected.at(b, m, n)) + " +- " + text_of(error.at(b, m, n)) +
                  ", then rounded to " + name_of(output.dtype());
      }
  INFO(first);
  CHECK(violations == 0);
}

}  // namespace

double element(const TestTensor& tensor, std::int64_t i, std::int64_t j, std::int64_t k) {
  if (!is_small(tensor.dtype())) return tensor.get(i, j, k);
  const std::uint16_t bits = *small_element(tensor, i, j, k);
  return tensor.dtype() == DataType::float16 ? detail::reference::from_float16(bits)
                                             : detail::reference::from_bfloat16(bits);
}

void set_element(TestTensor& tensor, double value, std::int64_t i, std::int64_t j, std::int64_t k) {
  if (is_small(tensor.dtype()))
    *small_element(tensor, i, j, k) = nearest_bits(tensor.dtype(), value);
  else
    tensor.set(value, i, j, k);
}

std::vector<double> elements(const TestTensor& tensor) {
  std::vector<double> values;
  for_each_index(tensor, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    values.push_back(element(tensor, i, j, k));
  });
  return values;
}

void fill(TestTensor& tensor, const std::function<double()>& next) {
  for_each_index(tensor, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    set_element(tensor, next(), i, j, k);
  });
}

void fill(TestTensor& tensor, const std::vector<double>& values) {
  std::size_t at = 0;
  fill(tensor, [&] { return values.at(at++); });
}

MixedSettings settings_of(const Settings& base) {
  MixedSettings settings;
  settings.base = base;
  settings.operand_dtype = base.dtype;
  settings.output_dtype = base.dtype;
  settings.is_batched = base.batch != 0;
  return settings;
}

std::string describe(const MixedSettings& settings) {
  std::string text = describe(settings.base) + ", operands " + name_of(settings.operand_dtype) +
                     ", results " + name_of(settings.output_dtype);
  if (settings.is_batched && settings.base.batch == 0) text += ", batch=0";
  if (settings.shares_w) text += ", w shared";
  if (settings.batch_gap != 0) text += ", batch gap " + std::to_string(settings.batch_gap);
  return text;
}

TestTensor MixedWorkload::make(DataType dtype, std::int64_t rows, std::int64_t columns,
                               Layout layout, bool is_batched) const {
  if (!is_batched) return TestTensor(dtype, {rows, columns}, layout);
  const std::vector<std::int64_t> extents = {settings_.base.batch, rows, columns};
  std::vector<std::int64_t> strides = strides_of(layout, extents);
  strides[0] += strides[0] < 0 ? -settings_.batch_gap : settings_.batch_gap;
  return TestTensor(dtype, extents, strides);
}

MixedWorkload::MixedWorkload(const MixedSettings& settings, const Epilogue& epilogue,
                             const std::vector<OperandDeclaration>& operands)
    : settings_(settings),
      x_(make(settings.base.dtype, settings.base.m, settings.base.k, settings.base.x,
              settings.is_batched)),
      w_(make(settings.base.dtype, settings.base.n, settings.base.k, settings.base.w,
              settings.is_batched && !settings.shares_w)),
      plan_(execution_space(), {x_.device(), w_.device(), ComputeMode::automatic}, epilogue,
            operands, options_of(settings.base)) {
  for (const detail::ProgramOperand& operand : plan_.implementation().program().operands) {
    if (operand.kind == OperandKind::scalar)
      scalars_.emplace(operand.name, 1.0);
    else
      tensors_.emplace(operand.name,
                       make(settings.operand_dtype, operand.shape.rows, operand.shape.columns,
                            settings.base.operands, operand.is_batched));
  }
  for (std::size_t i = 0; i < plan_.result_count(); ++i) {
    const std::vector<std::int64_t> extents = plan_.result_extents(i);
    const bool is_index = plan_.result_dtype(i) == DataType::int64;
    // Of neither y nor a batched operand there is one matrix for all problems.
    const bool is_batched = settings.is_batched && extents[0] == settings.base.batch;
    outputs_.push_back(make(is_index ? DataType::int64 : settings.output_dtype, extents[1],
                            extents[2], output_layout(settings.base), is_batched));
  }
}

void MixedWorkload::fill_exact(Random& random) {
  is_exact_ = true;
  const auto next = [&] { return random.quarter(); };
  fill(x_, next);
  fill(w_, next);
  for (auto& entry : tensors_) fill(entry.second, next);
  for (auto& entry : scalars_) entry.second = next();
}

void MixedWorkload::fill_real(Random& random) {
  is_exact_ = false;
  const double bound = 1 / std::sqrt(static_cast<double>(settings_.base.k));
  const auto next = [&] { return random.uniform(-bound, bound); };
  fill(x_, [&] { return random.uniform(0, 1); });
  fill(w_, next);
  for (auto& entry : tensors_) fill(entry.second, next);
  for (auto& entry : scalars_) entry.second = next();
}

Arguments MixedWorkload::arguments(bool on_device) const {
  const auto place = [&](const TestTensor& tensor) {
    return on_device ? tensor.device() : tensor.host();
  };
  Arguments arguments;
  arguments.x = place(x_);
  arguments.w = place(w_);
  for (const auto& entry : scalars_) arguments.bindings.emplace_back(entry.first, entry.second);
  for (const auto& entry : tensors_)
    arguments.bindings.emplace_back(entry.first, place(entry.second));
  for (const TestTensor& output : outputs_) arguments.outputs.push_back(place(output));
  return arguments;
}

void MixedWorkload::execute() {
  x_.upload();
  w_.upload();
  for (auto& entry : tensors_) entry.second.upload();
  for (TestTensor& output : outputs_) output.upload();
  plan_.execute(execution_space(), device_arguments());
  fence();
  for (TestTensor& output : outputs_) {
    output.download();
    CHECK(output.is_poison_around());
  }
}

Array MixedWorkload::y_error() const {
  Array error(plan_.implementation().program().y);
  if (is_exact_ || error.values.empty()) return error;
  TestTensor x = x_;
  TestTensor w = w_;
  for (TestTensor* tensor : {&x, &w}) {
    std::vector<double> magnitudes = elements(*tensor);
    for (double& value : magnitudes) value = std::abs(value);
    fill(*tensor, magnitudes);
  }
  error = detail::reference::multiply(x.host(), w.host());
  const double factor =
      static_cast<double>(settings_.base.k + 2) * epsilon(arithmetic_of(settings_.base.dtype));
  for (double& value : error.values) value *= factor;
  return error;
}

void MixedWorkload::check() const {
  const auto expected = detail::reference::expected_results(plan_, host_arguments());
  const std::vector<Array> errors = running_error(
      plan_.implementation().program(), detail::reference::program_inputs(plan_, host_arguments()),
      y_error(), arithmetic_of(settings_.base.dtype));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("result " << plan_.result_name(i));
    const Array none(expected[i].value.shape);
    check_result(outputs_[i], expected[i].value, expected[i].is_index ? none : errors[i]);
  }
}

}  // namespace test
}  // namespace postlude
