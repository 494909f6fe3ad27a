#include "gemm/microkernel_weights.hpp"

#include <algorithm>
#include <new>

#include "evaluator/quotient_up.hpp"
#include "gemm/avx512_kernels.hpp"
#include "gemm/large_pages.hpp"
#include "gemm/thread_items.hpp"

namespace postlude {
namespace detail {
namespace {

constexpr std::align_val_t alignment{large_page};

}  // namespace

void MicrokernelWeights::Free::operator()(float* data) const { ::operator delete(data, alignment); }

MicrokernelWeights::MicrokernelWeights(std::int64_t n, std::int64_t k, std::int64_t threads)
    : n_(n),
      k_(k),
      threads_(threads),
      data_(static_cast<float*>(::operator new(bytes(), alignment))) {
  // The rest is on a page that others use.
  ask_for_large_pages(data_.get(), bytes() / large_page * large_page);
}

RowsOfW MicrokernelWeights::rows_from(std::int64_t row) const {
  RowsOfW rows;
  rows.data = data_.get();
  rows.block_rows = n_;
  rows.first = row;
  return rows;
}

std::size_t MicrokernelWeights::bytes() const {
  return static_cast<std::size_t>(n_) * static_cast<std::size_t>(k_) * sizeof(float);
}

void MicrokernelWeights::refresh(const ExecutionSpace&, const void* w,
                                 const MatrixStrides& strides) {
  constexpr std::int64_t rows_at_once = 128;
  const auto* const from = static_cast<const float*>(w);
  const std::int64_t blocks = quotient_up(k_, microkernel_depth);
  for_each_on_threads(
      threads_, blocks * quotient_up(n_, rows_at_once), [&](std::int64_t, std::int64_t item) {
        const std::int64_t k = item % blocks * microkernel_depth;
        const std::int64_t row = item / blocks * rows_at_once;
        MatrixCopy copy;
        copy.rows = std::min(rows_at_once, n_ - row);
        copy.columns = copy.padded_columns = copy.to_row = std::min(microkernel_depth, k_ - k);
        copy.from = from + row * strides.row + k * strides.column;
        copy.from_row = strides.row;
        copy.from_column = strides.column;
        copy.to = data_.get() + k * n_ + row * copy.to_row;
        copy_matrix_avx512(copy);
      });
}

}  // namespace detail
}  // namespace postlude
