#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <regex>
#include <stdexcept>

#include <postlude/check.hpp>

#include "float64_product.hpp"
#include "reference/reference_gemm.hpp"
#include "reference/reference_results.hpp"

namespace postlude {
namespace perf {
namespace {

using detail::reference::Array;

/// A row-major matrix in host memory.
struct HostMatrix {
  Tensor tensor;
  std::vector<unsigned char> bytes;
};

HostMatrix host_matrix(DataType dtype, std::int64_t rows, std::int64_t columns,
                       std::vector<unsigned char> bytes) {
  HostMatrix matrix;
  matrix.bytes = std::move(bytes);
  matrix.tensor.data = matrix.bytes.data();
  matrix.tensor.dtype = dtype;
  matrix.tensor.extent[0] = rows;
  matrix.tensor.extent[1] = columns;
  matrix.tensor.stride[0] = columns;
  matrix.tensor.stride[1] = 1;
  return matrix;
}

HostMatrix to_host(const ExecutionSpace& space, const DeviceTensor& device) {
  const Tensor& tensor = device.tensor();
  return host_matrix(tensor.dtype, tensor.extent[0], tensor.extent[1], device.to_host(space));
}

/// The chosen rows.
HostMatrix rows_of(const HostMatrix& matrix, const std::vector<std::int64_t>& chosen) {
  const std::int64_t columns = matrix.tensor.extent[1];
  const std::size_t line = static_cast<std::size_t>(columns) * size_of(matrix.tensor.dtype);
  std::vector<unsigned char> bytes(line * chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    std::memcpy(bytes.data() + i * line,
                matrix.bytes.data() + static_cast<std::size_t>(chosen[i]) * line, line);
  return host_matrix(matrix.tensor.dtype, static_cast<std::int64_t>(chosen.size()), columns,
                     std::move(bytes));
}

Array read(const Tensor& matrix) {
  return detail::reference::read(matrix, detail::Shape{1, matrix.extent[0], matrix.extent[1]});
}

/// The part of an array. A dimension of extent 1 is broadcast, and stays.
Array part_of(const Array& array, const Part& part) {
  const bool by_rows = part.along == Independent::rows;
  const std::int64_t extent = by_rows ? array.shape.rows : array.shape.columns;
  if (part.along == Independent::nothing || extent == 1) return array;
  const auto count = static_cast<std::int64_t>(part.chosen.size());
  Array result(by_rows ? detail::Shape{1, count, array.shape.columns}
                       : detail::Shape{1, array.shape.rows, count});
  for (std::int64_t row = 0; row < result.shape.rows; ++row)
    for (std::int64_t column = 0; column < result.shape.columns; ++column) {
      const std::int64_t m = by_rows ? part.chosen[static_cast<std::size_t>(row)] : row;
      const std::int64_t n = by_rows ? column : part.chosen[static_cast<std::size_t>(column)];
      result.at(0, row, column) = array.at(0, m, n);
    }
  return result;
}

std::vector<std::int64_t> draw(std::int64_t extent, std::int64_t count, std::mt19937_64& random) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(extent));
  std::iota(all.begin(), all.end(), std::int64_t(0));
  std::vector<std::int64_t> chosen;
  std::sample(all.begin(), all.end(), std::back_inserter(chosen), count, random);
  return chosen;
}

Tensor tensor_of(Array& array) {
  Tensor tensor;
  tensor.data = array.values.data();
  tensor.dtype = DataType::float64;
  tensor.extent[0] = array.shape.rows;
  tensor.extent[1] = array.shape.columns;
  tensor.stride[0] = array.shape.columns;
  tensor.stride[1] = 1;
  return tensor;
}

/// No element of the table's results is infinite or NaN: such a value is never right.
void compare(double value, double expected, Check& check) {
  ++check.elements;
  const double error = std::abs(value - expected);
  const double size = std::abs(expected);
  if (!std::isfinite(error)) {
    ++check.violations;
    check.largest_absolute_error = std::numeric_limits<double>::infinity();
    check.largest_relative_error = std::numeric_limits<double>::infinity();
    return;
  }
  check.largest_absolute_error = std::max(check.largest_absolute_error, error);
  if (size > check.tolerance)
    check.largest_relative_error = std::max(check.largest_relative_error, error / size);
  if (error > check.tolerance + check.tolerance * size) ++check.violations;
}

}  // namespace

Reference::Reference(const ExecutionSpace& space, const Inputs& inputs, double most_flops,
                     std::mt19937_64& random)
    : space_(space),
      inputs_(inputs),
      most_flops_(most_flops),
      copy_(static_cast<int>(random() % static_cast<std::uint64_t>(inputs.copies()))),
      m_(inputs.x(0).tensor().extent[0]),
      n_(inputs.w(0).tensor().extent[0]),
      k_(inputs.x(0).tensor().extent[1]) {
  for (const Independent along : {Independent::rows, Independent::columns, Independent::nothing})
    parts_[along] = draw_part(along, random);
  verified_rows_ = draw(m_, std::min(m_, std::int64_t(2)), random);
}

Part Reference::draw_part(Independent along, std::mt19937_64& random) const {
  constexpr std::int64_t most_elements = 1 << 18;  // the reference takes up to a microsecond each
  constexpr std::int64_t fewest = 12;
  Part part;
  if (along == Independent::nothing) return part;
  const bool by_rows = along == Independent::rows;
  const std::int64_t extent = by_rows ? m_ : n_;
  const std::int64_t other = by_rows ? n_ : m_;
  std::int64_t count = most_elements / other;
  if (space_.backend() != Backend::cuda) {
    const double flops = 2 * static_cast<double>(other) * static_cast<double>(k_);
    count = std::min(count, static_cast<std::int64_t>(most_flops_ / flops));
  }
  count = std::max(count, fewest);
  if (count >= extent) return part;
  part.along = along;
  part.chosen = draw(extent, count, random);
  part.text =
      std::to_string(count) + " of " + std::to_string(extent) + (by_rows ? " rows" : " columns");
  return part;
}

const Array& Reference::product(Independent along) {
  const Part& part = parts_.at(along);
  const auto found = products_.find(part.along);
  if (found != products_.end()) return found->second;
  return products_[part.along] = product_of(part);
}

Array Reference::product_of(const Part& part) {
  if (space_.backend() == Backend::cuda) {
    if (part.along != Independent::nothing) return part_of(product(Independent::nothing), part);
    Array whole =
        cuda_float64_product(space_, inputs_.x(copy_).tensor(), inputs_.w(copy_).tensor());
    verify(whole);
    return whole;
  }
  HostMatrix x = to_host(space_, inputs_.x(copy_));
  HostMatrix w = to_host(space_, inputs_.w(copy_));
  if (part.along == Independent::rows) x = rows_of(x, part.chosen);
  // A column of the result belongs to a row of w.
  if (part.along == Independent::columns) w = rows_of(w, part.chosen);
  return detail::reference::multiply(x.tensor, w.tensor);
}

/// The vendor's float64 product is no reference before a loop has found the same in some rows.
void Reference::verify(const Array& whole) const {
  const HostMatrix x = rows_of(to_host(space_, inputs_.x(copy_)), verified_rows_);
  const HostMatrix w = to_host(space_, inputs_.w(copy_));
  const Array expected = detail::reference::multiply(x.tensor, w.tensor);
  for (std::size_t i = 0; i < verified_rows_.size(); ++i)
    for (std::int64_t column = 0; column < n_; ++column) {
      const double value = whole.at(0, verified_rows_[i], column);
      const double right = expected.at(0, static_cast<std::int64_t>(i), column);
      if (!(std::abs(value - right) <= 1e-10 * (1 + std::abs(right))))
        throw std::runtime_error("the float64 product of the reference is wrong");
    }
}

/// The program on the float64 product, which is an operand there: the reference multiplies nothing.
void Reference::expect(const Case& what) {
  if (program_ == what.program) return;
  program_.clear();
  const Part& part = parts_.at(what.independent);
  Array y = product(what.independent);
  const std::string text = std::regex_replace(what.text, std::regex("\\by\\b"), "product");
  std::vector<OperandDeclaration> declarations = {{"product", OperandKind::matrix}};
  Arguments arguments;
  arguments.bindings.emplace_back("product", tensor_of(y));
  std::vector<Array> operands;
  operands.reserve(what.operands.size());  // bindings point into them
  for (const CaseOperand& entry : what.operands) {
    declarations.push_back({entry.name, entry.kind});
    if (entry.kind == OperandKind::scalar) {
      arguments.bindings.emplace_back(entry.name, entry.number);
      continue;
    }
    const HostMatrix whole = to_host(space_, inputs_.operand(entry.name, copy_));
    operands.push_back(part_of(read(whole.tensor), part));
    arguments.bindings.emplace_back(entry.name, tensor_of(operands.back()));
  }
  Array x(detail::Shape{1, y.shape.rows, 1}), w(detail::Shape{1, y.shape.columns, 1});
  arguments.x = tensor_of(x);
  arguments.w = tensor_of(w);
  PlanOptions options;
  options.layout = ResultLayout::any;
  const Plan plan(Kokkos::DefaultHostExecutionSpace(), {arguments.x, arguments.w}, text,
                  declarations, options);
  const std::vector<std::int64_t> extents = plan.result_extents(0);
  Array out(detail::Shape{1, extents[1], extents[2]});
  arguments.outputs = {tensor_of(out)};
  expected_ = std::move(detail::reference::expected_results(plan, arguments).front().value);
  program_ = what.program;
}

Check Reference::check(const Case& what, const DeviceTensor& output) {
  expect(what);
  const Part& part = parts_.at(what.independent);
  const HostMatrix whole = to_host(space_, output);
  const Array values = part_of(read(whole.tensor), part);
  if (values.shape != expected_.shape)
    throw std::runtime_error("the result is " + detail::to_string(values.shape) + ": expected " +
                             detail::to_string(expected_.shape));
  Check result;
  result.checked = part.text;
  result.tolerance = default_tolerance(what.dtype);
  for (std::size_t i = 0; i < values.values.size(); ++i)
    compare(values.values[i], expected_.values[i], result);
  return result;
}

}  // namespace perf
}  // namespace postlude
