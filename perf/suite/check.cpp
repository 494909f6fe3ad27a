#include "check.hpp"

#include <postlude/check.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace postlude {
namespace perf {
namespace {

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

/// The chosen rows of a matrix. One with a single row is broadcast, and stays.
HostMatrix rows_of(const HostMatrix& matrix, const std::vector<std::int64_t>& chosen) {
  if (matrix.tensor.extent[0] == 1)
    return host_matrix(matrix.tensor.dtype, 1, matrix.tensor.extent[1], matrix.bytes);
  const std::int64_t columns = matrix.tensor.extent[1];
  const std::size_t line = static_cast<std::size_t>(columns) * size_of(matrix.tensor.dtype);
  std::vector<unsigned char> bytes(line * chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    std::memcpy(bytes.data() + i * line,
                matrix.bytes.data() + static_cast<std::size_t>(chosen[i]) * line, line);
  return host_matrix(matrix.tensor.dtype, static_cast<std::int64_t>(chosen.size()), columns,
                     std::move(bytes));
}

/// The chosen columns, likewise.
HostMatrix columns_of(const HostMatrix& matrix, const std::vector<std::int64_t>& chosen) {
  const std::int64_t rows = matrix.tensor.extent[0];
  const std::int64_t columns = matrix.tensor.extent[1];
  if (columns == 1) return host_matrix(matrix.tensor.dtype, rows, 1, matrix.bytes);
  const std::size_t element = size_of(matrix.tensor.dtype);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(rows) * chosen.size() * element);
  unsigned char* to = bytes.data();
  for (std::int64_t row = 0; row < rows; ++row)
    for (const std::int64_t column : chosen) {
      std::memcpy(to,
                  matrix.bytes.data() + static_cast<std::size_t>(row * columns + column) * element,
                  element);
      to += element;
    }
  return host_matrix(matrix.tensor.dtype, rows, static_cast<std::int64_t>(chosen.size()),
                     std::move(bytes));
}

std::vector<std::int64_t> draw(std::int64_t extent, std::int64_t count, std::mt19937_64& random) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(extent));
  std::iota(all.begin(), all.end(), std::int64_t(0));
  std::vector<std::int64_t> chosen;
  std::sample(all.begin(), all.end(), std::back_inserter(chosen), count, random);
  return chosen;
}

/// Which part of a problem is computed again.
struct Part {
  Independent along = Independent::nothing;  ///< nothing: the whole
  std::vector<std::int64_t> chosen;
  std::string text = "all";

  HostMatrix of(const HostMatrix& matrix, Independent side) const {
    if (along != side || side == Independent::nothing)
      return host_matrix(matrix.tensor.dtype, matrix.tensor.extent[0], matrix.tensor.extent[1],
                         matrix.bytes);
    return side == Independent::rows ? rows_of(matrix, chosen) : columns_of(matrix, chosen);
  }
  /// Of an operand or a result, which have both sides.
  HostMatrix of(const HostMatrix& matrix) const { return of(matrix, along); }
};

Part choose_part(const Case& what, double most_flops, std::mt19937_64& random) {
  constexpr std::int64_t sampled_rows = 12;
  constexpr std::int64_t sampled_columns = 64;
  Part part;
  const double flops =
      2.0 * static_cast<double>(what.m) * static_cast<double>(what.n) * static_cast<double>(what.k);
  if (flops <= most_flops || what.independent == Independent::nothing) return part;
  const bool by_rows = what.independent == Independent::rows;
  const std::int64_t extent = by_rows ? what.m : what.n;
  const std::int64_t count = std::min(extent, by_rows ? sampled_rows : sampled_columns);
  if (count == extent) return part;
  part.along = what.independent;
  part.chosen = draw(extent, count, random);
  part.text =
      std::to_string(count) + " of " + std::to_string(extent) + (by_rows ? " rows" : " columns");
  return part;
}

}  // namespace

double tolerance_of(DataType dtype) {
  switch (dtype) {
    case DataType::float64:
      return 1e-11;
    case DataType::float16:
    case DataType::bfloat16:
      return 1e-2;
    default:
      return 1e-4;
  }
}

Check check(const ExecutionSpace& space, const Case& what, const Inputs& inputs, int copy,
            const DeviceTensor& output, double most_flops, std::mt19937_64& random) {
  const Part part = choose_part(what, most_flops, random);
  const HostMatrix x = part.of(to_host(space, inputs.x(copy)), Independent::rows);
  // A column of the result belongs to a row of w.
  HostMatrix w = to_host(space, inputs.w(copy));
  if (part.along == Independent::columns) w = rows_of(w, part.chosen);
  const HostMatrix out = part.of(to_host(space, output));

  Arguments arguments;
  arguments.x = x.tensor;
  arguments.w = w.tensor;
  arguments.outputs = {out.tensor};
  std::vector<OperandDeclaration> declarations;
  std::vector<HostMatrix> operands;
  operands.reserve(what.operands.size());  // bindings point into them
  for (const CaseOperand& entry : what.operands) {
    declarations.push_back({entry.name, entry.kind});
    if (entry.kind == OperandKind::scalar) {
      arguments.bindings.emplace_back(entry.name, entry.number);
      continue;
    }
    operands.push_back(part.of(to_host(space, inputs.operand(entry.name, copy))));
    arguments.bindings.emplace_back(entry.name, operands.back().tensor);
  }
  const Plan plan(Kokkos::DefaultHostExecutionSpace(), {x.tensor, w.tensor}, what.text,
                  declarations);
  const CheckResult result =
      compare_with_reference(plan, arguments, tolerance_of(what.dtype)).front();
  return {part.text,         tolerance_of(what.dtype),      result.elements,
          result.violations, result.largest_absolute_error, result.largest_relative_error};
}

}  // namespace perf
}  // namespace postlude
