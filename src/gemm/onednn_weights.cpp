#include "gemm/onednn_weights.hpp"

#include <new>
#include <utility>

#include "gemm/matrix_form.hpp"

namespace postlude {
namespace detail {
namespace {

/// A cache line, and a register of AVX-512.
constexpr std::align_val_t alignment{64};

}  // namespace

void OneDnnWeights::Free::operator()(float* data) const { ::operator delete(data, alignment); }

OneDnnWeights::OneDnnWeights(const OneDnnShape& shape, std::shared_ptr<const OneDnnFormat> format)
    : shape_(shape),
      format_(std::move(format)),
      data_(static_cast<float*>(::operator new(bytes_of(*format_), alignment))) {}

void OneDnnWeights::refresh(const ExecutionSpace&, const void* w, const MatrixStrides& strides) {
  OneDnnShape shape = shape_;
  shape.b = transposed(plain_strides(n(), k(), {0, strides.row, strides.column}));
  write_b(shape, static_cast<const float*>(w), *format_, data_.get());
}

}  // namespace detail
}  // namespace postlude
