#ifndef POSTLUDE_FUNCTOR_HPP
#define POSTLUDE_FUNCTOR_HPP

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

#include <postlude/detail/traversal.hpp>
#include <postlude/plan.hpp>

namespace postlude {

namespace detail {

template <class OutView, class Functor>
struct FunctorBody {
  /// Neighbours along the contiguous dimension; on a GPU one each, so that threads stay coalesced.
  static constexpr int span = is_device_space<typename OutView::execution_space>() ? 1 : 64;
  static constexpr bool inner_is_rows =
      std::is_same<typename OutView::array_layout, Kokkos::LayoutLeft>::value;

  OutView out;
  Functor functor;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t, std::int64_t outer, std::int64_t begin,
                                         int count) const {
    for (std::int64_t inner = begin; inner < begin + count; ++inner) {
      const std::int64_t m = inner_is_rows ? inner : outer;
      const std::int64_t n = inner_is_rows ? outer : inner;
      out(m, n) = functor(out(m, n), m, n);
    }
  }
};

}  // namespace detail

/// A linear layer whose epilogue is a C++ functor: out[m,n] = functor(y[m,n], m, n), y = x w^T.
///
/// The functor is called once for every element, in parallel and in no particular order, inlined
/// into one sweep over out, in which y was computed; it is copied by value to the backend. Its call
/// operator is `KOKKOS_FUNCTION Element operator()(Element value, std::int64_t m, std::int64_t n)
/// const`, Element being out's element type, float or double, the same as that of x and w.
///
/// Shapes: x is M x K, w is N x K, out is M x N, in LayoutLeft or LayoutRight, any strides for x
/// and w. Aliasing: out must not overlap x or w. Errors and threads: as Plan. Since: 0.1.
template <class OutView>
class FunctorPlan {
 public:
  static_assert(OutView::rank == 2, "postlude::FunctorPlan: out must have rank 2");
  /// The execution space of out.
  using Space = typename OutView::execution_space;

  /// A plan for out = functor(x w^T) on `space`; only shapes and strides of x and w are used.
  template <class XView, class WView>
  FunctorPlan(const Space& space, const XView& x, const WView& w)
      : space_(space), plan_(space, linear(x, w), y(), {}, options()) {}

  /// Executes on the space given to the constructor; asynchronous where the backend is.
  template <class XView, class WView, class Functor>
  void operator()(const XView& x, const WView& w, const OutView& out,
                  const Functor& functor) const {
    plan_(x, w, {}, out);
    using Body = detail::FunctorBody<OutView, Functor>;
    const auto rows = static_cast<std::int64_t>(out.extent(0));
    const auto columns = static_cast<std::int64_t>(out.extent(1));
    detail::traverse(space_, "postlude::sweep::functor", 1, Body::inner_is_rows ? columns : rows,
                     Body::inner_is_rows ? rows : columns, Body{out, functor});
  }

  /// As Plan::explain(), without the functor.
  std::string explain() const { return plan_.explain(); }

 private:
  static PlanOptions options() {
    PlanOptions options;
    options.layout = std::is_same<typename OutView::array_layout, Kokkos::LayoutLeft>::value
                         ? ResultLayout::column_major
                         : ResultLayout::row_major;
    return options;
  }

  Space space_;
  Plan plan_;
};

}  // namespace postlude

#endif
