#ifndef POSTLUDE_GEMM_HOPPER_HPP
#define POSTLUDE_GEMM_HOPPER_HPP

#include "gemm/engine.hpp"

namespace postlude {
namespace detail {

/// Our own kernels for compute capability 9.0: float16, bfloat16, and float32 as three products of
/// float16 parts whose sums are promoted every 64 of k, which makes them as exact as strict
/// float32; see hopper_kernels.hpp. Refuses, with the reason, where the build has no such kernels.
const Engine& hopper_engine();

}  // namespace detail
}  // namespace postlude

#endif
