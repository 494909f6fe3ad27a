#ifndef POSTLUDE_GEMM_SPLIT_GEMM_HPP
#define POSTLUDE_GEMM_SPLIT_GEMM_HPP

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "gemm/cublaslt_matmul.hpp"
#include "gemm/engine.hpp"
#include "gemm/kept_algorithms.hpp"
#include "gemm/split_kernels.hpp"
#include "gemm/split_weights.hpp"
#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// How three products of float16 parts become two vendor GEMMs.
enum class SplitScheme {
  /// Parts side by side along k: [x high, x low] [w low, w high]^T, then x high w high^T. Reads the
  /// high part of w twice.
  side_by_side,
  /// The parts of x on top of each other: [x high; x low] w high^T, then x high w low^T. Reads w
  /// once, and writes two rows for each row of y: for few rows, whose time is that of reading w.
  stacked
};

/// The scheme for a number of rows of x.
SplitScheme split_scheme(std::int64_t rows);

/// The product of one problem in split float16 on one CUDA device: sizes, descriptors and
/// algorithms. Immutable. Matrices of a batch are computed one after another.
class SplitGemm {
 public:
  /// For sizes above 0. Throws Error(invalid_argument, backend_failure).
  SplitGemm(int device, const GemmProblem& problem, SplitScheme scheme,
            const AlgorithmChoice& choice);

  /// Why the library cannot do it, "" when it can.
  const std::string& refusal() const { return refusal_; }

  /// The library's algorithms for both products; see GemmPlan::algorithms().
  const std::string& algorithms() const { return algorithms_; }

  /// Bytes of workspace for run(), of which the last weights_bytes() are for w where it is split on
  /// the way.
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  std::size_t weights_bytes() const { return weights_bytes_; }

  /// Whether it can leave a product and factors.
  static bool leaves_factors(SplitScheme scheme) { return scheme == SplitScheme::side_by_side; }

  /// Enqueues y = x w^T, or its product and factors. `weights` are prepared from w, or null to
  /// split w on the way; with them `w` is not read and may be null.
  void run(const GemmProblem& problem, const float* x, const float* w, const SplitWeights* weights,
           float* y, void* workspace, cudaStream_t stream, float* row_factors = nullptr,
           float* column_factors = nullptr) const;

 private:
  /// One of the two vendor GEMMs.
  struct Product {
    Product(int device, const MatmulShape& shape, const char* name, const KeptAlgorithms& kept,
            bool is_timed);
    CublasLtMatmul matmul;
    bool is_possible = false;
    cublasLtMatmulHeuristicResult_t algorithm = {};
  };

  SplitGemm(int device, const GemmProblem& problem, SplitScheme scheme, const KeptAlgorithms& kept,
            bool is_timed);

  void multiply(const SplitMatrix& x, const SplitMatrix& w, float* product, void* workspace,
                cudaStream_t stream) const;

  bool is_transposed_;  ///< the product is column-major, and x the first factor of the vendor
  std::int64_t leading_dimension_;
  SplitScheme scheme_;
  Product first_;
  Product second_;
  std::string algorithms_;
  std::string refusal_;
  std::size_t x_bytes_ = 0;
  std::size_t product_bytes_ = 0;
  std::size_t extrema_bytes_ = 0;
  std::size_t vendor_bytes_ = 0;
  std::size_t weights_bytes_ = 0;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace detail
}  // namespace postlude

#endif
