#include "gemm/kokkos_kernels.hpp"

#include <climits>
#include <memory>
#include <mutex>
#include <string>

#include <postlude/detail/traversal.hpp>
#include <postlude/error.hpp>

#include "compat/kokkos.hpp"
#include "compat/with_instance.hpp"
#include "evaluator/small_floats.hpp"
#include "gemm/host_blas.hpp"
#include "gemm/matrix_form.hpp"
#include "gemm/thread_items.hpp"
#include "plan/panels.hpp"

namespace postlude {
namespace detail {
namespace {

/// Copies a matrix to contiguous rows of the type that the GEMM computes in.
template <class Element, class T>
struct PackBody {
  static constexpr int span = 8;
  const Element* from;
  T* to;
  MatrixStrides strides;
  std::int64_t columns;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t, std::int64_t row, std::int64_t begin,
                                         int count) const {
    for (std::int64_t column = begin; column < begin + count; ++column)
      to[row * columns + column] =
          Convert<T, Element>::from(from[row * strides.row + column * strides.column]);
  }
};

template <class T>
struct ZeroBody {
  static constexpr int span = 8;
  T* to;
  MatrixStrides strides;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t batch, std::int64_t row, std::int64_t begin,
                                         int count) const {
    for (std::int64_t column = begin; column < begin + count; ++column)
      to[batch * strides.batch + row * strides.row + column * strides.column] = T(0);
  }
};

/// A factor of the product as a column-major matrix in memory and whether it is to be transposed.
template <class T>
struct Factor {
  const T* data;
  std::int64_t leading_dimension;
  bool transpose;
};

/// Kokkos Kernels keeps one cuBLAS handle for the process and sets its stream for each call.
std::mutex& gemm_mutex() {
  static std::mutex mutex;
  return mutex;
}

template <class Space, class T>
using ColumnMajorView =
    Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::Device<Space, typename Space::memory_space>,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// rows x columns elements at `data`, as the leading part of taller columns.
template <class Space, class T>
ColumnMajorView<Space, T> view_of(T* data, std::int64_t rows, std::int64_t columns,
                                  std::int64_t leading_dimension) {
  const ColumnMajorView<Space, T> whole(data, static_cast<std::size_t>(leading_dimension),
                                        static_cast<std::size_t>(columns));
  return Kokkos::subview(whole, std::make_pair(std::size_t(0), static_cast<std::size_t>(rows)),
                         Kokkos::ALL());
}

/// c (rows x columns, column-major) = op(a) op(b), in panels of columns: vendor interfaces count
/// the elements of a result in an int.
template <class Space, class T>
void multiply(const Space& space, std::int64_t rows, std::int64_t columns, std::int64_t depth,
              const Factor<T>& a, const Factor<T>& b, T* c, std::int64_t leading_dimension) {
  const std::int64_t panel = std::max<std::int64_t>(1, INT_MAX / std::max<std::int64_t>(rows, 1));
  const auto a_view = a.transpose
                          ? view_of<Space, const T>(a.data, depth, rows, a.leading_dimension)
                          : view_of<Space, const T>(a.data, rows, depth, a.leading_dimension);
  for (std::int64_t begin = 0; begin < columns; begin += panel) {
    const std::int64_t width = std::min(panel, columns - begin);
    const T* b_data = b.data + begin * (b.transpose ? 1 : b.leading_dimension);
    const auto b_view = b.transpose
                            ? view_of<Space, const T>(b_data, width, depth, b.leading_dimension)
                            : view_of<Space, const T>(b_data, depth, width, b.leading_dimension);
    const auto c_view =
        view_of<Space, T>(c + begin * leading_dimension, rows, width, leading_dimension);
    compat::gemm(space, a.transpose ? "T" : "N", b.transpose ? "T" : "N", a_view, b_view, c_view);
  }
}

/// The type that the GEMM of a problem computes in, and that y has.
DataType gemm_dtype(const GemmProblem& problem) {
  return problem.dtype == DataType::float64 ? DataType::float64 : DataType::float32;
}

bool must_pack(const GemmProblem& problem, std::int64_t rows, const MatrixStrides& strides) {
  return problem.dtype != gemm_dtype(problem) ||
         blas_form(rows, problem.k, strides).form == MatrixForm::neither;
}

/// Rows that are packed at a time: enough to keep a BLAS busy, so few that a copy of a large matrix
/// is never held whole.
std::int64_t packed_rows(const GemmProblem& problem, std::int64_t rows, std::int64_t megabytes) {
  const std::int64_t row_bytes = std::max<std::int64_t>(problem.k, 1) *
                                 static_cast<std::int64_t>(size_of(gemm_dtype(problem)));
  return std::min(rows, std::max<std::int64_t>((megabytes << 20) / row_bytes, 1));
}

std::int64_t packed_rows_of_w(const GemmProblem& problem) {
  return packed_rows(problem, problem.n, is_host(problem.backend) ? 20 : 512);
}

/// On a device x is packed whole.
std::int64_t packed_rows_of_x(const GemmProblem& problem) {
  return is_host(problem.backend) ? packed_rows(problem, problem.m, 12) : problem.m;
}

std::int64_t packed_elements(const GemmProblem& problem) {
  std::int64_t elements = 0;
  if (must_pack(problem, problem.m, problem.x)) elements += packed_rows_of_x(problem) * problem.k;
  if (must_pack(problem, problem.n, problem.w)) elements += packed_rows_of_w(problem) * problem.k;
  return elements;
}

/// A matrix that a BLAS can take.
template <class T>
struct BlasReady {
  const T* data;
  BlasMatrix form;
};

/// From a row on.
template <class T>
BlasReady<T> part_of(const BlasReady<T>& matrix, std::int64_t row) {
  const std::int64_t stride =
      matrix.form.form == MatrixForm::row_major ? matrix.form.leading_dimension : 1;
  return {matrix.data + row * stride, matrix.form};
}

/// Threads that may each call the BLAS; 1 where it needs all of them for itself.
std::int64_t threads_for(const ExecutionSpace& space, const GemmProblem& problem) {
  const bool may_call =
      problem.backend == Backend::openmp && problem.k > 0 && may_call_blas_in_parallel();
  return may_call ? thread_count(space) : 1;
}

/// The part of y that begins at `y`, from as many rows of x and of w, on the calling thread.
template <class T>
void multiply_on_thread(const GemmProblem& problem, const BlasReady<T>& x, std::int64_t rows,
                        const BlasReady<T>& w, std::int64_t columns, T* y) {
  const BlasMatrix result = blas_form(problem.m, problem.n, problem.y);
  // In memory a row-major matrix is its transpose as a column-major one.
  const auto operand = [](const BlasReady<T>& matrix, bool wanted_transposed) {
    return BlasOperand<T>{matrix.data, matrix.form.leading_dimension,
                          (matrix.form.form == MatrixForm::row_major) != wanted_transposed};
  };
  if (result.form == MatrixForm::row_major)
    blas_gemm(columns, rows, problem.k, operand(w, false), operand(x, true), y,
              result.leading_dimension);
  else
    blas_gemm(rows, columns, problem.k, operand(x, false), operand(w, true), y,
              result.leading_dimension);
}

template <class Space, class Element, class T>
class Run {
 public:
  Run(const Space& space, const GemmProblem& problem, const GemmArguments& arguments,
      std::int64_t threads)
      : space_(space), problem_(problem), arguments_(arguments), threads_(threads) {}

  void run() {
    const std::lock_guard<std::mutex> lock(gemm_mutex());
    if (problem_.k == 0) return zero();
    for (std::int64_t batch = 0; batch < problem_.batch; ++batch) multiply_one(batch);
  }

 private:
  using Ready = BlasReady<T>;

  void zero() const {
    traverse(space_, "postlude::gemm::zero", problem_.batch, problem_.m, problem_.n,
             ZeroBody<T>{static_cast<T*>(arguments_.y), problem_.y});
  }

  Ready pack(const Element* matrix, std::int64_t rows, const MatrixStrides& strides, T* to) const {
    traverse(space_, "postlude::gemm::pack", 1, rows, problem_.k,
             PackBody<Element, T>{matrix, to, strides, problem_.k});
    return {to, {MatrixForm::row_major, problem_.k}};
  }

  /// In memory a row-major matrix is its transpose as a column-major one.
  static Factor<T> factor(const Ready& matrix, bool wanted_transposed) {
    const bool is_transposed = matrix.form.form == MatrixForm::row_major;
    return {matrix.data, matrix.form.leading_dimension, is_transposed != wanted_transposed};
  }

  /// Parts of w one after another, and of x for each: each packed where a BLAS cannot take it.
  void multiply_one(std::int64_t batch) const {
    const Element* x = static_cast<const Element*>(arguments_.x) + batch * problem_.x.batch;
    const Element* w = static_cast<const Element*>(arguments_.w) + batch * problem_.w.batch;
    T* y = static_cast<T*>(arguments_.y) + batch * problem_.y.batch;
    const bool packs_x = must_pack(problem_, problem_.m, problem_.x);
    const bool packs_w = must_pack(problem_, problem_.n, problem_.w);
    const std::int64_t rows_of_x = packs_x ? packed_rows_of_x(problem_) : problem_.m;
    const std::int64_t rows_of_w = packs_w ? packed_rows_of_w(problem_) : problem_.n;
    T* const packed_x = static_cast<T*>(arguments_.workspace);
    T* const packed_w = packed_x + (packs_x ? rows_of_x * problem_.k : 0);
    Ready ready_x{reinterpret_cast<const T*>(x), blas_form(problem_.m, problem_.k, problem_.x)};
    Ready ready_w{reinterpret_cast<const T*>(w), blas_form(problem_.n, problem_.k, problem_.w)};
    for (std::int64_t column = 0; column < problem_.n; column += rows_of_w) {
      const std::int64_t columns = std::min(rows_of_w, problem_.n - column);
      if (packs_w) ready_w = pack(w + column * problem_.w.row, columns, problem_.w, packed_w);
      for (std::int64_t row = 0; row < problem_.m; row += rows_of_x) {
        const std::int64_t rows = std::min(rows_of_x, problem_.m - row);
        const bool is_packed = rows_of_x == problem_.m && column > 0;
        if (packs_x && !is_packed)
          ready_x = pack(x + row * problem_.x.row, rows, problem_.x, packed_x);
        multiply_part(ready_x, rows, ready_w, columns,
                      y + row * problem_.y.row + column * problem_.y.column);
      }
    }
  }

  /// The part of y that begins at `y`, from as many rows of x and of w.
  void multiply_part(const Ready& x, std::int64_t rows, const Ready& w, std::int64_t columns,
                     T* y) const {
    if (multiply_by_threads(x, rows, w, columns, y)) return;
    const BlasMatrix result = blas_form(problem_.m, problem_.n, problem_.y);
    if (result.form == MatrixForm::row_major)
      // Column-major, the memory of y is y^T = w x^T.
      multiply<Space, T>(space_, columns, rows, problem_.k, factor(w, false), factor(x, true), y,
                         result.leading_dimension);
    else
      multiply<Space, T>(space_, rows, columns, problem_.k, factor(x, false), factor(w, true), y,
                         result.leading_dimension);
  }

  /// Each thread its own panels of the longer dimension; false where one GEMM is better.
  bool multiply_by_threads(const Ready& x, std::int64_t rows, const Ready& w, std::int64_t columns,
                           T* y) const {
    std::int64_t row_step = rows, column_step = columns;
    if (const std::int64_t lines = lines_by_threads(columns, rows, threads_))
      column_step = lines;
    else if (const std::int64_t others = lines_by_threads(rows, columns, threads_))
      row_step = others;
    else
      return false;
    const std::int64_t row_panels = (rows + row_step - 1) / row_step;
    const std::int64_t column_panels = (columns + column_step - 1) / column_step;
    for_each_on_threads(threads_, row_panels * column_panels, [&](std::int64_t, std::int64_t item) {
      const std::int64_t row = item / column_panels * row_step;
      const std::int64_t column = item % column_panels * column_step;
      multiply_on_thread(problem_, part_of(x, row), std::min(row_step, rows - row),
                         part_of(w, column), std::min(column_step, columns - column),
                         y + row * problem_.y.row + column * problem_.y.column);
    });
    return true;
  }

  const Space& space_;
  const GemmProblem& problem_;
  const GemmArguments& arguments_;
  std::int64_t threads_;  ///< that may each call the BLAS
};

/// All of a problem without a batch of which nothing has to be packed.
template <class T>
void multiply_alone(const GemmProblem& problem, const GemmArguments& arguments) {
  const BlasReady<T> x{static_cast<const T*>(arguments.x),
                       blas_form(problem.m, problem.k, problem.x)};
  const BlasReady<T> w{static_cast<const T*>(arguments.w),
                       blas_form(problem.n, problem.k, problem.w)};
  multiply_on_thread(problem, x, problem.m, w, problem.n, static_cast<T*>(arguments.y));
}

class KokkosKernelsGemm final : public GemmPlan {
 public:
  /// `threads` may each call the BLAS. Kept, so that every execution adds in the same order.
  explicit KokkosKernelsGemm(std::int64_t threads) : threads_(threads) {}

  void run_on_thread(std::int64_t, const GemmProblem& problem,
                     const GemmArguments& arguments) const override {
    if (problem.dtype == DataType::float64)
      multiply_alone<double>(problem, arguments);
    else
      multiply_alone<float>(problem, arguments);
  }

  void run(const ExecutionSpace& space, const GemmProblem& problem,
           const GemmArguments& arguments) const override {
    if (problem.batch == 0 || problem.m == 0 || problem.n == 0) return;
    with_instance(space, [&](const auto& instance) {
      using Space = std::decay_t<decltype(instance)>;
      switch (problem.dtype) {
        case DataType::float64:
          Run<Space, double, double>(instance, problem, arguments, threads_).run();
          break;
        case DataType::float32:
          Run<Space, float, float>(instance, problem, arguments, threads_).run();
          break;
        case DataType::float16:
          Run<Space, Float16, float>(instance, problem, arguments, threads_).run();
          break;
        case DataType::bfloat16:
          Run<Space, BFloat16, float>(instance, problem, arguments, threads_).run();
          break;
        case DataType::int64:
          break;  // refused by consider()
      }
    });
  }

 private:
  std::int64_t threads_;
};

class KokkosKernelsEngine final : public Engine {
 public:
  const char* name() const override { return "kokkos_kernels"; }

  EngineAnswer consider(const ExecutionSpace& space, const GemmProblem& problem,
                        const AlgorithmChoice&) const override {
    EngineAnswer answer;
    EngineCandidate& candidate = answer.candidate;
    candidate.name = name();
    if (problem.dtype == DataType::int64) {
      candidate.reason = "takes f64, f32, f16 and bf16, not i64";
      return answer;
    }
    if (problem.compute == ComputeMode::f32_emulated_f16x3 ||
        problem.compute == ComputeMode::f32_fast_tf32) {
      candidate.reason = std::string("computes in f64 and f32, not in ") + name_of(problem.compute);
      return answer;
    }
    const BlasMatrix x = blas_form(problem.m, problem.k, problem.x);
    const BlasMatrix w = blas_form(problem.n, problem.k, problem.w);
    for (const std::int64_t size :
         {problem.m, problem.n, problem.k, x.leading_dimension, w.leading_dimension}) {
      if (size <= INT_MAX) continue;
      candidate.reason =
          "sizes and leading dimensions are limited to 2147483647, not " + std::to_string(size);
      return answer;
    }
    candidate.accepts = true;
    candidate.workspace_bytes =
        static_cast<std::size_t>(packed_elements(problem)) * size_of(gemm_dtype(problem));
    candidate.reason = "KokkosBlas::gemm";
    if (problem.dtype != gemm_dtype(problem))
      candidate.reason += std::string("; converts x and w to ") + name_of(gemm_dtype(problem));
    if (x.form == MatrixForm::neither) candidate.reason += "; packs x, which has no unit stride";
    if (w.form == MatrixForm::neither) candidate.reason += "; packs w, which has no unit stride";
    const std::int64_t threads = threads_for(space, problem);
    if (candidate.workspace_bytes == 0) candidate.threads_alone = threads;
    answer.gemm = std::make_shared<const KokkosKernelsGemm>(threads);
    return answer;
  }
};

}  // namespace

const Engine& kokkos_kernels_engine() {
  static const KokkosKernelsEngine engine;
  return engine;
}

}  // namespace detail
}  // namespace postlude
