#ifndef POSTLUDE_EXECUTE_MATRIX_PASS_HPP
#define POSTLUDE_EXECUTE_MATRIX_PASS_HPP

#include <cstddef>
#include <cstdint>

#include <postlude/backend.hpp>
#include <postlude/data_type.hpp>

#include "plan/gemm_problem.hpp"
#include "program/program.hpp"

namespace postlude {
namespace detail {

/// A batch of matrices as a pass walks through it; strides in elements.
struct PassMatrix {
  const void* data = nullptr;
  DataType dtype = DataType::float32;
  std::int64_t batch = 1;
  std::int64_t outer = 1;
  std::int64_t inner = 1;  ///< the dimension in which its neighbours are closest
  std::int64_t stride_batch = 0;
  std::int64_t stride_outer = 0;
  std::int64_t stride_inner = 1;
};

/// What a pass adds up beside looking for the largest magnitude.
enum class PassSums {
  none,
  along_inner,  ///< over the inner dimension: a sum for each outer index
  along_outer   ///< over the outer dimension: a sum for each inner index
};

/// Neighbours that one unit of a sum along the outer dimension takes on a device, four for each
/// thread of a block, and a multiple of what units of other passes take.
constexpr std::int64_t pass_tile = 1024;

/// Neighbours that it takes on a host: long enough for memory to be read in order, short enough for
/// their sums to stay in a cache.
constexpr std::int64_t host_pass_tile = 4096;

/// How the work is cut into units. Depends on the shape and the kind of backend alone, so that the
/// order of summation is the same in every run.
struct PassCut {
  std::int64_t group_rows = 1;  ///< lines of a unit, for sums along the inner dimension and none
  std::int64_t groups = 1;      ///< of lines, or tiles of neighbours, in each matrix
  std::int64_t chunks = 1;      ///< of the dimension that is summed over
  std::int64_t length = 0;      ///< of a chunk
  std::int64_t units = 0;       ///< batch x groups x chunks
  std::int64_t workers = 0;     ///< worker i takes the units i, i + workers, ...
};

/// One reading of a matrix: the largest magnitude that each worker has seen, NaN where it has seen
/// one, and weighted sums of each chunk.
struct MatrixPass {
  PassMatrix matrix;
  PassSums sums = PassSums::none;
  PassCut cut;
  /// One for each element summed over, `weights_stride` from one matrix to the next; null for ones.
  const double* weights = nullptr;
  std::int64_t weights_stride = 0;
  double* magnitudes = nullptr;  ///< cut.workers of them
  /// partials[chunk][batch][index]; the sums themselves where there is one chunk.
  double* partials = nullptr;

  std::int64_t sums_of_matrix() const {
    return sums == PassSums::along_inner ? matrix.outer : matrix.inner;
  }
  std::int64_t sum_count() const { return matrix.batch * sums_of_matrix(); }
};

/// Small passes that may be made with another one.
constexpr std::size_t most_other_passes = 3;

/// Magnitudes that a pass leaves at most.
constexpr std::int64_t most_magnitudes = 1024;

/// A pass over a matrix that looks for its largest magnitude, and adds up over dimension
/// `summed_dimension` (0 or 1, -1 for no sums). Addresses are still to be filled in.
MatrixPass matrix_pass(Backend backend, DataType dtype, const Shape& shape,
                       const MatrixStrides& strides, int summed_dimension);

/// Bytes of partial sums, and of what the additions of float64 elements have rounded away, which
/// lies behind them where there are several chunks.
std::size_t partials_bytes(const MatrixPass& pass);

/// Where that is; null where it is not kept.
double* lost_of(const MatrixPass& pass);

/// Sums of chunks that are to be added, in order: sums[i] = sum over c of partials[c * count + i],
/// and of lost[c * count + i].
struct ChunkedSums {
  const double* partials = nullptr;
  const double* lost = nullptr;  ///< null for nothing
  double* sums = nullptr;
  std::int64_t count = 0;
  std::int64_t chunks = 0;
};

/// What is to be added after a pass of several chunks.
ChunkedSums sums_after(const MatrixPass& pass, double* sums);

}  // namespace detail
}  // namespace postlude

#endif
