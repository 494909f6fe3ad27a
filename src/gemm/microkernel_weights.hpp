#ifndef POSTLUDE_GEMM_MICROKERNEL_WEIGHTS_HPP
#define POSTLUDE_GEMM_MICROKERNEL_WEIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gemm/engine.hpp"
#include "gemm/microkernel_panel.hpp"

namespace postlude {
namespace detail {

/// w in blocks of microkernel_depth columns, each with its rows one after the other: the rows that
/// are multiplied together are one piece of memory. As many elements as w.
class MicrokernelWeights final : public GemmWeights {
 public:
  MicrokernelWeights(std::int64_t n, std::int64_t k, std::int64_t threads);

  std::int64_t n() const { return n_; }
  std::int64_t k() const { return k_; }
  /// From a row of w on.
  RowsOfW rows_from(std::int64_t row) const;

  std::size_t bytes() const override;
  void refresh(const ExecutionSpace& space, const void* w, const MatrixStrides& strides) override;

 private:
  struct Free {
    void operator()(float* data) const;
  };

  std::int64_t n_;
  std::int64_t k_;
  std::int64_t threads_;
  std::unique_ptr<float, Free> data_;
};

}  // namespace detail
}  // namespace postlude

#endif
