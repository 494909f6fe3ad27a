#ifndef POSTLUDE_SWEEP_POINTWISE_HPP
#define POSTLUDE_SWEEP_POINTWISE_HPP

#include <postlude/detail/traversal.hpp>

#include "evaluator/evaluate.hpp"
#include "sweep/vector_width.hpp"

namespace postlude {
namespace detail {

/// A pointwise stage never gives a value to a reduction.
struct NoSink {
  template <class T>
  POSTLUDE_FUNCTION void operator()(int, const T*) const {}
};

template <class Space, class T>
struct PointwiseBody {
  static constexpr int width = vector_width<Space, T>();
  /// A host work item takes several blocks, so that scheduling costs little beside the work.
  static constexpr int span = is_device_space<Space>() ? width : 8 * width;

  Stage stage;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t batch, std::int64_t outer, std::int64_t begin,
                                         int count) const {
    for (int done = 0; done < count; done += width)
      evaluate<T, width>(stage, Position{batch, outer, begin + done},
                         count - done < width ? count - done : width, NoSink());
  }
};

template <class T, class Space>
void pointwise_sweep(const Space& space, const Stage& stage) {
  traverse(space, sweep_label<Space>("pointwise"), stage.batch, stage.outer, stage.inner,
           PointwiseBody<Space, T>{stage});
}

}  // namespace detail
}  // namespace postlude

#endif
