#ifndef POSTLUDE_SWEEP_VECTOR_WIDTH_HPP
#define POSTLUDE_SWEEP_VECTOR_WIDTH_HPP

#include <string>

#include <postlude/detail/traversal.hpp>
#include <postlude/execution_space.hpp>

#include "evaluator/evaluate.hpp"
#include "evaluator/reducers.hpp"

namespace postlude {
namespace detail {

/// Neighbouring elements of a packet: on a device as many as one 16-byte access moves, on a host a
/// block that fits the first-level cache with all slots (128 floats x 16 blocks are 8 KB).
template <class Space, class T>
constexpr int packet_width() {
  return is_device_space<Space>() ? 16 / static_cast<int>(sizeof(T)) : 128;
}

/// Threads whose packets lie side by side, so that one access of a warp is contiguous.
constexpr int warp_threads = 32;

/// "postlude::sweep::pointwise[cuda]": the label that profiling tools show.
template <class Space>
std::string sweep_label(const char* kind) {
  return std::string("postlude::sweep::") + kind + "[" + name_of(BackendOf<Space>::value) + "]";
}

/// Stores a reduction's result for one element of the reduced domain, rounded once from float64.
template <class T, class Code>
POSTLUDE_FUNCTION void store_reduced(const Stage& stage, int index, std::int64_t batch,
                                     std::int64_t outer, std::int64_t inner,
                                     const ReductionState& state, std::int64_t count) {
  const StageReduction& reduction = stage.reductions[index];
  const OperandAccess& output = stage.operands[reduction.output];
  const Span place{batch, outer, inner, outer + 1, inner + 1, 0, 0};
  const double value =
      reduction_finish<T>(Code::kind(stage, index), reduction.parameter, state, count);
  store<double, 1, 1>(output, stage.parts, output.dtype, place, &value);
}

}  // namespace detail
}  // namespace postlude

#endif
