#include "gemm/kokkos_kernels.hpp"

#include <climits>
#include <mutex>
#include <string>

#include <postlude/detail/traversal.hpp>
#include <postlude/error.hpp>

#include "compat/kokkos.hpp"
#include "compat/with_instance.hpp"
#include "gemm/matrix_form.hpp"

namespace postlude {
namespace detail {
namespace {

template <class T>
struct CopyBody {
  static constexpr int span = 8;
  const T* from;
  T* to;
  MatrixStrides strides;
  std::int64_t columns;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t, std::int64_t row, std::int64_t begin,
                                         int count) const {
    for (std::int64_t column = begin; column < begin + count; ++column)
      to[row * columns + column] = from[row * strides.row + column * strides.column];
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

std::int64_t packed_elements(const GemmProblem& problem) {
  std::int64_t elements = 0;
  if (blas_form(problem.m, problem.k, problem.x).form == MatrixForm::neither)
    elements += problem.m * problem.k;
  if (blas_form(problem.n, problem.k, problem.w).form == MatrixForm::neither)
    elements += problem.n * problem.k;
  return elements;
}

template <class Space, class T>
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
  void zero() const {
    traverse(space_, "postlude::gemm::zero", problem_.batch, problem_.m, problem_.n,
             ZeroBody<T>{static_cast<T*>(arguments_.y), problem_.y});
  }

  /// `matrix` as a row-major matrix is, in memory, its transpose as a column-major one.
  Factor<T> factor(const T* matrix, std::int64_t rows, const MatrixStrides& strides,
                   bool wanted_transposed, T*& workspace) const {
    BlasMatrix blas = blas_form(rows, problem_.k, strides);
    if (blas.form == MatrixForm::neither) {
      traverse(space_, "postlude::gemm::pack", 1, rows, problem_.k,
               CopyBody<T>{matrix, workspace, strides, problem_.k});
      matrix = workspace;
      workspace += rows * problem_.k;
      blas = {MatrixForm::row_major, problem_.k};
    }
    const bool is_transposed = blas.form == MatrixForm::row_major;
    return {matrix, blas.leading_dimension, is_transposed != wanted_transposed};
  }

  void multiply_one(std::int64_t batch) const {
    T* workspace = static_cast<T*>(arguments_.workspace);
    const T* x = static_cast<const T*>(arguments_.x) + batch * problem_.x.batch;
    const T* w = static_cast<const T*>(arguments_.w) + batch * problem_.w.batch;
    T* y = static_cast<T*>(arguments_.y) + batch * problem_.y.batch;
    const BlasMatrix result = blas_form(problem_.m, problem_.n, problem_.y);
    if (result.form == MatrixForm::row_major) {
      // Column-major, the memory of y is y^T = w x^T.
      const Factor<T> a = factor(w, problem_.n, problem_.w, false, workspace);
      const Factor<T> b = factor(x, problem_.m, problem_.x, true, workspace);
      multiply<Space, T>(space_, problem_.n, problem_.m, problem_.k, a, b, y,
                         result.leading_dimension);
    } else {
      const Factor<T> a = factor(x, problem_.m, problem_.x, false, workspace);
      const Factor<T> b = factor(w, problem_.n, problem_.w, true, workspace);
      multiply<Space, T>(space_, problem_.m, problem_.n, problem_.k, a, b, y,
                         result.leading_dimension);
    }
  }

  const Space& space_;
  const GemmProblem& problem_;
  const GemmArguments& arguments_;
};

class KokkosKernelsEngine : public Engine {
 public:
  const char* name() const override { return "kokkos_kernels"; }

  EngineCandidate consider(const GemmProblem& problem) const override {
    EngineCandidate candidate;
    candidate.name = name();
    if (problem.dtype != DataType::float32 && problem.dtype != DataType::float64) {
      candidate.reason = std::string("takes f32 and f64, not ") + name_of(problem.dtype);
      return candidate;
    }
    const BlasMatrix x = blas_form(problem.m, problem.k, problem.x);
    const BlasMatrix w = blas_form(problem.n, problem.k, problem.w);
    for (const std::int64_t size :
         {problem.m, problem.n, problem.k, x.leading_dimension, w.leading_dimension}) {
      if (size <= INT_MAX) continue;
      candidate.reason =
          "sizes and leading dimensions are limited to 2147483647, not " + std::to_string(size);
      return candidate;
    }
    candidate.accepts = true;
    candidate.workspace_bytes =
        static_cast<std::size_t>(packed_elements(problem)) * size_of(problem.dtype);
    candidate.reason = "KokkosBlas::gemm";
    if (x.form == MatrixForm::neither) candidate.reason += "; packs x, which has no unit stride";
    if (w.form == MatrixForm::neither) candidate.reason += "; packs w, which has no unit stride";
    return candidate;
  }

  void run(const ExecutionSpace& space, const GemmProblem& problem,
           const GemmArguments& arguments) const override {
    if (problem.batch == 0 || problem.m == 0 || problem.n == 0) return;
    with_instance(space, [&](const auto& instance) {
      using Space = std::decay_t<decltype(instance)>;
      if (problem.dtype == DataType::float64)
        Run<Space, double>(instance, problem, arguments).run();
      else
        Run<Space, float>(instance, problem, arguments).run();
    });
  }
};

}  // namespace

const Engine& kokkos_kernels_engine() {
  static const KokkosKernelsEngine engine;
  return engine;
}

}  // namespace detail
}  // namespace postlude
