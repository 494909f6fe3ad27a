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
#include "gemm/matrix_form.hpp"

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

/// Rows of w that are packed at a time: enough to keep a BLAS busy, so few that a copy of w is
/// never held whole.
std::int64_t packed_rows_of_w(const GemmProblem& problem) {
  const bool is_device = problem.backend != Backend::serial && problem.backend != Backend::openmp &&
                         problem.backend != Backend::threads;
  const std::int64_t most_bytes = std::int64_t(is_device ? 512 : 48) << 20;
  const std::int64_t row_bytes = std::max<std::int64_t>(problem.k, 1) *
                                 static_cast<std::int64_t>(size_of(gemm_dtype(problem)));
  return std::min(problem.n, std::max<std::int64_t>(most_bytes / row_bytes, 1));
}

std::int64_t packed_elements(const GemmProblem& problem) {
  std::int64_t elements = 0;
  if (must_pack(problem, problem.m, problem.x)) elements += problem.m * problem.k;
  if (must_pack(problem, problem.n, problem.w)) elements += packed_rows_of_w(problem) * problem.k;
  return elements;
}

template <class Space, class Element, class T>
class Run {
 public:
  Run(const Space& space, const GemmProblem& problem, const GemmArguments& arguments)
      : space_(space), problem_(problem), arguments_(arguments) {}

  void run() {
    const std::lock_guard<std::mutex> lock(gemm_mutex());
    if (problem_.k == 0) return zero();
    for (std::int64_t batch = 0; batch < problem_.batch; ++batch) multiply_one(batch);
  }

 private:
  /// A matrix that a BLAS can take.
  struct Ready {
    const T* data;
    BlasMatrix form;
  };

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

  void multiply_one(std::int64_t batch) const {
    T* workspace = static_cast<T*>(arguments_.workspace);
    const Element* x = static_cast<const Element*>(arguments_.x) + batch * problem_.x.batch;
    const Element* w = static_cast<const Element*>(arguments_.w) + batch * problem_.w.batch;
    T* y = static_cast<T*>(arguments_.y) + batch * problem_.y.batch;
    Ready ready_x{reinterpret_cast<const T*>(x), blas_form(problem_.m, problem_.k, problem_.x)};
    if (must_pack(problem_, problem_.m, problem_.x)) {
      ready_x = pack(x, problem_.m, problem_.x, workspace);
      workspace += problem_.m * problem_.k;
    }
    if (!must_pack(problem_, problem_.n, problem_.w)) {
      multiply_panel(ready_x,
                     {reinterpret_cast<const T*>(w), blas_form(problem_.n, problem_.k, problem_.w)},
                     problem_.n, y);
      return;
    }
    const std::int64_t panel = packed_rows_of_w(problem_);
    for (std::int64_t begin = 0; begin < problem_.n; begin += panel) {
      const std::int64_t rows = std::min(panel, problem_.n - begin);
      const Ready ready_w = pack(w + begin * problem_.w.row, rows, problem_.w, workspace);
      multiply_panel(ready_x, ready_w, rows, y + begin * problem_.y.column);
    }
  }

  /// `columns` columns of y, which begin at `y`, from as many rows of w.
  void multiply_panel(const Ready& x, const Ready& w, std::int64_t columns, T* y) const {
    const BlasMatrix result = blas_form(problem_.m, problem_.n, problem_.y);
    if (result.form == MatrixForm::row_major)
      // Column-major, the memory of y is y^T = w x^T.
      multiply<Space, T>(space_, columns, problem_.m, problem_.k, factor(w, false), factor(x, true),
                         y, result.leading_dimension);
    else
      multiply<Space, T>(space_, problem_.m, columns, problem_.k, factor(x, false), factor(w, true),
                         y, result.leading_dimension);
  }

  const Space& space_;
  const GemmProblem& problem_;
  const GemmArguments& arguments_;
};

class KokkosKernelsGemm final : public GemmPlan {
 public:
  void run(const ExecutionSpace& space, const GemmProblem& problem,
           const GemmArguments& arguments) const override {
    if (problem.batch == 0 || problem.m == 0 || problem.n == 0) return;
    with_instance(space, [&](const auto& instance) {
      using Space = std::decay_t<decltype(instance)>;
      switch (problem.dtype) {
        case DataType::float64:
          Run<Space, double, double>(instance, problem, arguments).run();
          break;
        case DataType::float32:
          Run<Space, float, float>(instance, problem, arguments).run();
          break;
        case DataType::float16:
          Run<Space, Float16, float>(instance, problem, arguments).run();
          break;
        case DataType::bfloat16:
          Run<Space, BFloat16, float>(instance, problem, arguments).run();
          break;
        case DataType::int64:
          break;  // refused by consider()
      }
    });
  }
};

class KokkosKernelsEngine final : public Engine {
 public:
  const char* name() const override { return "kokkos_kernels"; }

  EngineAnswer consider(const ExecutionSpace&, const GemmProblem& problem,
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
    answer.gemm = std::make_shared<const KokkosKernelsGemm>();
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
