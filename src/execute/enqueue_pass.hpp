#ifndef POSTLUDE_EXECUTE_ENQUEUE_PASS_HPP
#define POSTLUDE_EXECUTE_ENQUEUE_PASS_HPP

#include <vector>

#include <postlude/execution_space.hpp>

#include "execute/guard_decision.hpp"
#include "execute/matrix_pass.hpp"

namespace postlude {
namespace detail {

/// Enqueues a pass: on the stream of a CUDA instance; on hosts it is complete on return. `others`,
/// at most most_other_passes of the same dtype and without sums, are made with it.
void enqueue_pass(const ExecutionSpace& space, const MatrixPass& pass,
                  const std::vector<MatrixPass>& others = {});

/// Enqueues the addition of sums of chunks, as a pass.
void enqueue_sums(const ExecutionSpace& space, const ChunkedSums& sums);

/// On CUDA enqueues a decision and the additions, and returns true. On hosts it is made at once:
/// returns whether the condition holds, and the additions are done if it does.
bool enqueue_decision(const ExecutionSpace& space, const GuardDecision& decision);

/// On a host: the largest of magnitudes, NaN if one is NaN; 0 of none.
double largest_of(const Magnitudes& magnitudes);

}  // namespace detail
}  // namespace postlude

#endif
