#ifndef POSTLUDE_GEMM_MICROKERNEL_HPP
#define POSTLUDE_GEMM_MICROKERNEL_HPP

#include "gemm/engine.hpp"

namespace postlude {
namespace detail {

/// Our own float32 GEMM for processors with AVX-512: w is multiplied where it lies, by a kernel
/// that keeps a tile of sums in registers, and x is packed. Threads of OpenMP may compute panels of
/// y alone.
const Engine& microkernel_engine();

/// Whether the engine takes a problem and has been measured to be faster than the others that may.
bool is_microkernel_fastest(const GemmProblem& problem);

}  // namespace detail
}  // namespace postlude

#endif
