#ifndef POSTLUDE_SWEEP_VECTOR_WIDTH_HPP
#define POSTLUDE_SWEEP_VECTOR_WIDTH_HPP

#include <postlude/detail/traversal.hpp>

namespace postlude {
namespace detail {

/// Neighbouring elements that one run of the evaluator takes: on a device as many as one 16-byte
/// access moves, on a host a block that amortises the decoding and fits the first-level cache with
/// all slots (128 floats x 16 blocks are 8 KB).
template <class Space, class T>
constexpr int vector_width() {
  return is_device_space<Space>() ? 16 / static_cast<int>(sizeof(T)) : 128;
}

/// "postlude::sweep::pointwise[cuda]": the label that profiling tools show.
template <class Space>
std::string sweep_label(const char* kind) {
  return std::string("postlude::sweep::") + kind + "[" + name_of(BackendOf<Space>::value) + "]";
}

/// A reduction's result to its output: an index as an integer, so that no rounding touches it.
template <class T>
POSTLUDE_FUNCTION void store_reduced(const Stage& stage, const StageReduction& reduction,
                                     const Position& at, const ReductionState& state,
                                     std::int64_t count) {
  const OperandAccess& output = stage.operands[reduction.output];
  const double value = reduction_finish<T>(reduction.kind, reduction.parameter, state, count);
  if (output.dtype == DataType::float64 || output.dtype == DataType::int64) {
    store<double, 1>(output, at, 1, &value);
  } else {
    const T rounded = static_cast<T>(value);
    store<T, 1>(output, at, 1, &rounded);
  }
}

}  // namespace detail
}  // namespace postlude

#endif
