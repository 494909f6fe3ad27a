#ifndef POSTLUDE_GEMM_CUBLASLT_HPP
#define POSTLUDE_GEMM_CUBLASLT_HPP

#include "gemm/engine.hpp"

namespace postlude {
namespace detail {

/// cuBLASLt: on tensor cores float16 and bfloat16 with float32 sums, and f32_fast_tf32; strict
/// float32. Takes what has a unit stride, any leading dimension, and strided batches.
const Engine& cublaslt_engine();

}  // namespace detail
}  // namespace postlude

#endif
