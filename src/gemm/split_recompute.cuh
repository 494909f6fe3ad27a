#ifndef POSTLUDE_GEMM_SPLIT_RECOMPUTE_CUH
#define POSTLUDE_GEMM_SPLIT_RECOMPUTE_CUH

#include <cstdint>

#include "gemm/split_factor.hpp"

namespace postlude {
namespace detail {

// Elements of a product of split matrices that are computed again from the operands: by kernels
// after the GEMM, and by GEMMs that run a stage on their sums.

constexpr int warp_size = 32;
constexpr unsigned whole_warp = 0xffffffffu;

/// Half the distance of float16's subnormal numbers, 2^-25, in a low part.
constexpr float part_error = 1.0f / (1ull << 36);
/// Relative error that small elements may add to a result, 2^-20.
constexpr float tolerated_error = 1.0f / (1 << 20);

__device__ inline float power_of_two(int exponent) {
  return __int_as_float((exponent + 127) << 23);
}

__device__ inline double power_of_two_double(int exponent) {
  return __hiloint2double((exponent + 1023) << 20, 0);
}

__device__ inline float float_of_half(std::uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

/// Elements of a row: where there is no matrix any more and the row was not kept, those of its
/// parts, which are as good as it takes when the other factor's row is the one that is marked.
class Row {
 public:
  __device__ Row(const SplitFactor& factor, std::int64_t r, std::int32_t kept, int exponent) {
    if (kept >= 0) {
      data_ = factor.kept + kept * factor.source.k;
    } else if (factor.source.data != nullptr) {
      data_ = factor.source.data + r * factor.source.row_stride;
      stride_ = factor.source.column_stride;
    } else {
      const std::uint16_t* const first =
          static_cast<const std::uint16_t*>(factor.parts) + 2 * r * factor.padded_k;
      high_ = first + (factor.low_first ? factor.padded_k : 0);
      low_ = first + (factor.low_first ? 0 : factor.padded_k);
      unit_ = power_of_two_double(-exponent);
    }
  }

  __device__ double operator[](std::int64_t k) const {
    if (data_ != nullptr) return static_cast<double>(data_[k * stride_]);
    const double low = static_cast<double>(float_of_half(low_[k])) / (1 << low_part_exponent);
    return (static_cast<double>(float_of_half(high_[k])) + low) * unit_;
  }

 private:
  const float* data_ = nullptr;
  std::int64_t stride_ = 1;
  const std::uint16_t* high_ = nullptr;
  const std::uint16_t* low_ = nullptr;
  double unit_ = 0;
};

/// One element of x w^T by a whole warp, in float64: NaN and infinities come out as they do in
/// float32, and what overflows float32 does so when it is rounded.
__device__ inline double product_of_rows(const Row& x, const Row& w, std::int64_t k_end) {
  double sum = 0;
  for (std::int64_t k = threadIdx.x % warp_size; k < k_end; k += warp_size) sum += x[k] * w[k];
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(whole_warp, sum, distance);
  return sum;
}

/// Whether an element may have lost too much to the parts: it depends on an infinity or NaN, or on
/// small elements while it is small itself.
__device__ inline bool must_recompute(const RowScale& x, const RowScale& w, double product) {
  const std::uint32_t marks = x.marks | w.marks;
  if (marks == 0) return false;
  if ((marks & row_is_not_finite) != 0) return true;
  const float error = part_error * (((x.marks & row_is_wide) != 0 ? w.sum : 0.0f) +
                                    ((w.marks & row_is_wide) != 0 ? x.sum : 0.0f));
  return fabs(product) * static_cast<double>(tolerated_error) < static_cast<double>(error);
}

/// The element (m, n) of x w^T for the lanes that ask for it; all lanes of a warp take part.
__device__ inline double recompute(const SplitFactor& x, const RowScale& x_scale,
                                   const SplitFactor& w, const RowScale& w_scale, std::int64_t m,
                                   std::int64_t n, bool is_asked) {
  double result = 0;
  unsigned left = __ballot_sync(whole_warp, is_asked);
  while (left != 0) {
    const int lane = __ffs(static_cast<int>(left)) - 1;
    left &= left - 1;
    const Row x_row(x, __shfl_sync(whole_warp, m, lane),
                    __shfl_sync(whole_warp, x_scale.kept, lane),
                    __shfl_sync(whole_warp, x_scale.exponent, lane));
    const Row w_row(w, __shfl_sync(whole_warp, n, lane),
                    __shfl_sync(whole_warp, w_scale.kept, lane),
                    __shfl_sync(whole_warp, w_scale.exponent, lane));
    const double exact = product_of_rows(x_row, w_row, x.source.k);
    if (static_cast<int>(threadIdx.x % warp_size) == lane) result = exact;
  }
  return result;
}

}  // namespace detail
}  // namespace postlude

#endif
