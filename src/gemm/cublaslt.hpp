#ifndef POSTLUDE_GEMM_CUBLASLT_HPP
#define POSTLUDE_GEMM_CUBLASLT_HPP

#include "gemm/engine.hpp"

namespace postlude {
namespace detail {

/// cuBLASLt: on tensor cores float16 and bfloat16 with float32 sums, and f32_fast_tf32; strict
/// float32. Takes what has a unit stride, any leading dimension, and strided batches.
const Engine& cublaslt_engine();

/// Whether the engine computes a problem of the mode f32_emulated_f16x3 in strict float32, which is
/// faster where the product is small: the parts take four more kernels.
bool is_small_emulated(const GemmProblem& problem);

}  // namespace detail
}  // namespace postlude

#endif
