#ifndef POSTLUDE_SWEEP_SWEEP_HPP
#define POSTLUDE_SWEEP_SWEEP_HPP

#include <vector>

#include <postlude/data_type.hpp>
#include <postlude/execution_space.hpp>

#include "sweep/bound_stage.hpp"

namespace postlude {
namespace detail {

/// Enqueues the stages on `space`, in order.
///
/// @param compute  float32 or float64, the type of the arithmetic.
void run_stages(const ExecutionSpace& space, const std::vector<BoundStage>& stages,
                DataType compute);

/// Runs the stages, in order, on the calling thread of a host alone, without Kokkos.
void run_stages_on_thread(const std::vector<BoundStage>& stages, DataType compute);

}  // namespace detail
}  // namespace postlude

#endif
