#ifndef POSTLUDE_EVALUATOR_SPAN_HPP
#define POSTLUDE_EVALUATOR_SPAN_HPP

#include <cstdint>

#include "evaluator/function.hpp"

namespace postlude {
namespace detail {

/// The elements that one run of the evaluator takes: `packets` packets of `width` neighbours along
/// the inner dimension, each packet a fixed step from the one before.
///
/// On a device a packet is one 16-byte access and the step spans the other threads of a warp (or
/// some lines), so that accesses coalesce. On a host there is one packet, a block that amortises
/// the decoding of instructions and fits the first-level cache with all slots.
struct Span {
  std::int64_t batch = 0;  ///< as a stage counts: parts of batches
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  std::int64_t outer_end = 0;  ///< no element has an outer index from here on
  std::int64_t inner_end = 0;
  std::int32_t outer_step = 0;
  std::int32_t inner_step = 0;

  /// Elements of a packet that exist; the first `count` of its lanes.
  POSTLUDE_FUNCTION int count(int packet, int width) const {
    if (outer + packet * outer_step >= outer_end) return 0;
    const std::int64_t left = inner_end - inner - packet * inner_step;
    return left < width ? static_cast<int>(left > 0 ? left : 0) : width;
  }

  POSTLUDE_FUNCTION bool is_full(int packets, int width) const {
    return outer + (packets - 1) * outer_step < outer_end &&
           inner_end - inner >= (packets - 1) * inner_step + width;
  }
};

}  // namespace detail
}  // namespace postlude

#endif
