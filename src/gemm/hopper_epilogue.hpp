#ifndef POSTLUDE_GEMM_HOPPER_EPILOGUE_HPP
#define POSTLUDE_GEMM_HOPPER_EPILOGUE_HPP

#include <cstdint>

#include "evaluator/reducers.hpp"
#include "gemm/split_factor.hpp"

namespace postlude {
namespace detail {

/// Stages that a kernel may run on its sums one after another. With so many of them there is still
/// room for the ring of stages of k.
constexpr int most_tile_stages = 3;

/// What a kernel that runs stages on its sums is given beside the product and the stages.
struct HopperEpilogue {
  /// For elements that are computed again; of null scales where x and w are not split.
  SplitFactor x;
  SplitFactor w;
  std::int64_t batch = 0;  ///< which of the products it is, for the stage's operands
  /// Of an outer reduction as in Partials, a chunk for each tile of x. Of inner reductions
  /// partials[reduction][line][tile of the line], with lines, or windows of lines, of all products.
  ReductionState* partials = nullptr;
};

}  // namespace detail
}  // namespace postlude

#endif
