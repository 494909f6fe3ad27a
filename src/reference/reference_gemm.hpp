#ifndef POSTLUDE_REFERENCE_REFERENCE_GEMM_HPP
#define POSTLUDE_REFERENCE_REFERENCE_GEMM_HPP

#include <postlude/tensor.hpp>

#include "reference/reference.hpp"

namespace postlude {
namespace detail {
namespace reference {

/// y[b,m,n] = sum_k x[b,m,k] * w[b,n,k] in float64.
///
/// x and w are host tensors of float32 or float64, of rank 2 or 3 (w may have rank 2 beside an x of
/// rank 3), with any strides. Every product of two elements is formed, so that NaN and infinities
/// come out as they must. Runs on all host threads; the order of summation, and with it every bit
/// of the result, does not depend on their number. Only blocks of x and w are converted at a time.
Array multiply(const Tensor& x, const Tensor& w);

}  // namespace reference
}  // namespace detail
}  // namespace postlude

#endif
