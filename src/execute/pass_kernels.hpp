#ifndef POSTLUDE_EXECUTE_PASS_KERNELS_HPP
#define POSTLUDE_EXECUTE_PASS_KERNELS_HPP

#include <cuda_runtime_api.h>

#include "execute/guard_decision.hpp"
#include "execute/matrix_pass.hpp"

namespace postlude {
namespace detail {

// Kernels of guarded plans on CUDA: plain CUDA, pointers and a stream. They read a matrix once, at
// the speed of memory; sums are made in float64, which that leaves time for.

/// Threads that take a pass's unit, and neighbours that each of them takes at a time.
constexpr int pass_threads = 256;
constexpr int pass_quad = 4;
static_assert(pass_tile == pass_threads * pass_quad, "a thread has one quad of a tile");

/// Lines that a unit takes at a time: so many loads of a thread are under way at once.
constexpr int pass_lines = 8;

/// Passes over matrices of one dtype in one launch. Those behind the first have no sums.
struct PassGroup {
  MatrixPass first;
  MatrixPass others[most_other_passes];
  int other_count = 0;
};

/// Enqueues passes. Throws Error(backend_failure).
void launch_passes(const PassGroup& group, cudaStream_t stream);

/// Enqueues the addition of sums of chunks. Throws Error(backend_failure).
void launch_sums(const ChunkedSums& sums, cudaStream_t stream);

/// Enqueues the decision, the additions and the stage, which is pointwise and float32. Throws
/// Error(backend_failure).
void launch_decision(const GuardDecision& decision, cudaStream_t stream);

}  // namespace detail
}  // namespace postlude

#endif
