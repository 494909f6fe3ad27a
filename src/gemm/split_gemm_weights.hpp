#ifndef POSTLUDE_GEMM_SPLIT_GEMM_WEIGHTS_HPP
#define POSTLUDE_GEMM_SPLIT_GEMM_WEIGHTS_HPP

#include <cstddef>

#include "gemm/engine.hpp"
#include "gemm/split_weights.hpp"
#include "gemm/tensor_cores.hpp"

namespace postlude {
namespace detail {

/// Weights of the engines split and hopper, each of which takes those of the other.
class SplitGemmWeights final : public GemmWeights {
 public:
  SplitGemmWeights(int device, const GemmProblem& problem) : weights_(device, problem) {}

  const SplitWeights& weights() const { return weights_; }

  std::size_t bytes() const override { return weights_.bytes(); }

  void refresh(const ExecutionSpace& space, const void* w, const MatrixStrides& strides) override {
    weights_.refresh(static_cast<const float*>(w), strides, stream_of(space));
  }

 private:
  SplitWeights weights_;
};

}  // namespace detail
}  // namespace postlude

#endif
