#include "reference/reference_gemm.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "reference/small_floats.hpp"

namespace postlude {
namespace detail {
namespace reference {
namespace {

/// The two 16-bit formats as types, to choose a decoder by.
struct Float16Bits {
  std::uint16_t bits;
};
struct BFloat16Bits {
  std::uint16_t bits;
};

// A tile of y is computed from packed blocks of x and w that stay in the second-level cache, by a
// kernel whose accumulators stay in registers: 6 x 4 independent sums.
constexpr std::int64_t kernel_rows = 6;
constexpr std::int64_t kernel_columns = 4;
constexpr std::int64_t tile_rows = 16 * kernel_rows;
constexpr std::int64_t tile_columns = 32 * kernel_columns;
constexpr std::int64_t block_depth = 256;

/// A matrix with elements of any floating type.
struct Matrix {
  const void* data;
  DataType dtype;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

Matrix matrix_of(const Tensor& tensor, std::int64_t batch) {
  const int row = tensor.rank - 2;
  const std::int64_t offset = tensor.rank == 3 ? batch * tensor.stride[0] : 0;
  const auto element = static_cast<std::int64_t>(size_of(tensor.dtype));
  const char* data = static_cast<const char*>(tensor.data);
  return {data == nullptr ? nullptr : data + offset * element,
          tensor.dtype,
          tensor.extent[row],
          tensor.extent[row + 1],
          tensor.stride[row],
          tensor.stride[row + 1]};
}

double value_of(double element) { return element; }
double value_of(float element) { return static_cast<double>(element); }
double value_of(Float16Bits element) { return from_float16(element.bits); }
double value_of(BFloat16Bits element) { return from_bfloat16(element.bits); }

/// Rows [row, row + rows) and columns [begin, begin + depth) as panels of `panel` rows, in which
/// the elements of a column are neighbours. Rows beyond the matrix are zero.
template <class T>
void pack(const Matrix& matrix, std::int64_t row, std::int64_t rows, std::int64_t panel,
          std::int64_t begin, std::int64_t depth, double* packed) {
  const T* data = static_cast<const T*>(matrix.data);
  for (std::int64_t first = 0; first < rows; first += panel)
    for (std::int64_t k = begin; k < begin + depth; ++k)
      for (std::int64_t lane = first; lane < first + panel; ++lane)
        *packed++ =
            lane < rows
                ? value_of(data[(row + lane) * matrix.row_stride + k * matrix.column_stride])
                : 0.0;
}

void pack(const Matrix& matrix, std::int64_t row, std::int64_t rows, std::int64_t panel,
          std::int64_t begin, std::int64_t depth, std::vector<double>& packed) {
  switch (matrix.dtype) {
    case DataType::float64:
      return pack<double>(matrix, row, rows, panel, begin, depth, packed.data());
    case DataType::float32:
      return pack<float>(matrix, row, rows, panel, begin, depth, packed.data());
    case DataType::float16:
      return pack<Float16Bits>(matrix, row, rows, panel, begin, depth, packed.data());
    case DataType::bfloat16:
      return pack<BFloat16Bits>(matrix, row, rows, panel, begin, depth, packed.data());
    case DataType::int64:
      return;  // no linear layer has such elements
  }
}

void multiply_panels(const double* x, const double* w, std::int64_t depth,
                     double (&sums)[kernel_rows][kernel_columns]) {
  double local[kernel_rows][kernel_columns] = {};
  for (std::int64_t k = 0; k < depth; ++k)
    for (std::int64_t i = 0; i < kernel_rows; ++i)
      for (std::int64_t j = 0; j < kernel_columns; ++j)
        local[i][j] += x[k * kernel_rows + i] * w[k * kernel_columns + j];
  for (std::int64_t i = 0; i < kernel_rows; ++i)
    for (std::int64_t j = 0; j < kernel_columns; ++j) sums[i][j] = local[i][j];
}

/// What one thread needs while it computes tiles.
struct Worker {
  std::vector<double> x = std::vector<double>(static_cast<std::size_t>(tile_rows * block_depth));
  std::vector<double> w = std::vector<double>(static_cast<std::size_t>(tile_columns * block_depth));

  /// y[batch, row.., column..] of one tile; y is zero before.
  void compute(const Matrix& x_matrix, const Matrix& w_matrix, std::int64_t batch, std::int64_t row,
               std::int64_t column, Array& y) {
    const std::int64_t rows = std::min(tile_rows, x_matrix.rows - row);
    const std::int64_t columns = std::min(tile_columns, w_matrix.rows - column);
    for (std::int64_t begin = 0; begin < x_matrix.columns; begin += block_depth) {
      const std::int64_t depth = std::min(block_depth, x_matrix.columns - begin);
      pack(x_matrix, row, rows, kernel_rows, begin, depth, x);
      pack(w_matrix, column, columns, kernel_columns, begin, depth, w);
      for (std::int64_t j = 0; j < columns; j += kernel_columns)
        for (std::int64_t i = 0; i < rows; i += kernel_rows) {
          double sums[kernel_rows][kernel_columns];
          multiply_panels(x.data() + i * depth, w.data() + j * depth, depth, sums);
          for (std::int64_t m = 0; m < std::min(kernel_rows, rows - i); ++m)
            for (std::int64_t n = 0; n < std::min(kernel_columns, columns - j); ++n)
              y.at(batch, row + i + m, column + j + n) += sums[m][n];
        }
    }
  }
};

std::int64_t tiles_of(std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; }

}  // namespace

Array multiply(const Tensor& x, const Tensor& w) {
  const Matrix first = matrix_of(x, 0);
  const Matrix second = matrix_of(w, 0);
  Array y(Shape{x.rank == 3 ? x.extent[0] : 1, first.rows, second.rows});
  if (y.values.empty() || first.columns == 0) return y;

  const std::int64_t row_tiles = tiles_of(first.rows, tile_rows);
  const std::int64_t column_tiles = tiles_of(second.rows, tile_columns);
  const std::int64_t tiles = y.shape.batch * row_tiles * column_tiles;
  std::atomic<std::int64_t> next{0};
  const auto work = [&](Worker& worker) {
    for (std::int64_t tile = next++; tile < tiles; tile = next++) {
      const std::int64_t batch = tile / (row_tiles * column_tiles);
      worker.compute(matrix_of(x, batch), matrix_of(w, batch), batch,
                     tile / column_tiles % row_tiles * tile_rows,
                     tile % column_tiles * tile_columns, y);
    }
  };

  const std::int64_t threads =
      std::min<std::int64_t>(tiles, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<Worker> workers(static_cast<std::size_t>(threads));
  std::vector<std::thread> helpers;
  helpers.reserve(workers.size());
  try {
    for (std::size_t i = 1; i < workers.size(); ++i)
      helpers.emplace_back([&work, &worker = workers[i]] { work(worker); });
  } catch (const std::exception&) {
    // The system gives no more threads: those that run take all tiles.
  }
  work(workers[0]);
  for (std::thread& helper : helpers) helper.join();
  return y;
}

}  // namespace reference
}  // namespace detail
}  // namespace postlude
