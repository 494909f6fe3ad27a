#ifndef POSTLUDE_GEMM_SPLIT_HPP
#define POSTLUDE_GEMM_SPLIT_HPP

#include "gemm/engine.hpp"

namespace postlude {
namespace detail {

/// float32 as three products of float16 parts, for the mode f32_emulated_f16x3; see
/// split_kernels.hpp. Takes any strides.
const Engine& split_engine();

}  // namespace detail
}  // namespace postlude

#endif
