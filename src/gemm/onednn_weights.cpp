#include "gemm/onednn_weights.hpp"

#include <new>
#include <utility>
#include <vector>

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
  const auto* from = static_cast<const float*>(w);
  std::vector<float> packed;
  MatrixStrides of_w{0, strides.row, strides.column};
  if (blas_form(n(), k(), of_w).form == MatrixForm::neither) {
    // oneDNN reads no w without a unit stride.
    packed.reserve(static_cast<std::size_t>(n() * k()));
    for (std::int64_t row = 0; row < n(); ++row)
      for (std::int64_t column = 0; column < k(); ++column)
        packed.push_back(from[row * strides.row + column * strides.column]);
    of_w = {0, k(), 1};
    from = packed.data();
  }
  shape.b = transposed(plain_strides(n(), k(), of_w));
  write_b(shape, from, *format_, data_.get());
}

}  // namespace detail
}  // namespace postlude
