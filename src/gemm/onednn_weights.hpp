#ifndef POSTLUDE_GEMM_ONEDNN_WEIGHTS_HPP
#define POSTLUDE_GEMM_ONEDNN_WEIGHTS_HPP

#include <cstddef>
#include <memory>

#include "gemm/engine.hpp"
#include "gemm/onednn_matmul.hpp"

namespace postlude {
namespace detail {

/// w in the format that oneDNN's kernels want it in.
class OneDnnWeights final : public GemmWeights {
 public:
  /// For y = x w^T as `shape` has it: w is its b, whose strides do not count.
  OneDnnWeights(const OneDnnShape& shape, std::shared_ptr<const OneDnnFormat> format);

  std::int64_t n() const { return shape_.columns; }
  std::int64_t k() const { return shape_.depth; }
  const std::shared_ptr<const OneDnnFormat>& format() const { return format_; }
  const float* data() const { return data_.get(); }

  std::size_t bytes() const override { return bytes_of(*format_); }
  void refresh(const ExecutionSpace& space, const void* w, const MatrixStrides& strides) override;

 private:
  struct Free {
    void operator()(float* data) const;
  };

  OneDnnShape shape_;
  std::shared_ptr<const OneDnnFormat> format_;
  std::unique_ptr<float, Free> data_;
};

}  // namespace detail
}  // namespace postlude

#endif
