#ifndef POSTLUDE_GEMM_SPLIT_WEIGHTS_HPP
#define POSTLUDE_GEMM_SPLIT_WEIGHTS_HPP

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gemm/split_kernels.hpp"
#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// w in two float16 parts, in memory of its own on one CUDA device. Rows that are marked are kept
/// in float32 too, so that w itself is not needed any more.
class SplitWeights {
 public:
  /// Memory for w of this problem. Throws Error(out_of_memory, backend_failure).
  SplitWeights(int device, const GemmProblem& problem);
  ~SplitWeights();
  SplitWeights(const SplitWeights&) = delete;
  SplitWeights& operator=(const SplitWeights&) = delete;

  /// Whether these are weights for such a problem on that device.
  bool fit(int device, const GemmProblem& problem) const;
  std::size_t bytes() const;

  /// Splits w. Complete on return. Throws Error(out_of_memory, backend_failure).
  void refresh(const float* w, const MatrixStrides& strides, cudaStream_t stream);

  /// One matrix of w, and its kept rows.
  SplitMatrix matrix(std::int64_t batch) const;
  const float* kept_rows() const { return kept_; }

 private:
  void keep_marked_rows(const float* w, const MatrixStrides& strides, cudaStream_t stream);

  int device_;
  std::int64_t matrices_;  ///< 1 where a batch shares w
  std::int64_t n_;
  std::int64_t k_;
  void* memory_ = nullptr;
  float* kept_ = nullptr;
  std::size_t kept_rows_ = 0;
};

}  // namespace detail
}  // namespace postlude

#endif
