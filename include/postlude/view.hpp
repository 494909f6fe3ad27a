#ifndef POSTLUDE_VIEW_HPP
#define POSTLUDE_VIEW_HPP

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <postlude/problem.hpp>
#include <postlude/tensor.hpp>

namespace postlude {

namespace detail {

template <class Space>
constexpr MemorySpace memory_space_of() {
  constexpr bool host =
      Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, Space>::accessible;
  constexpr bool device =
      Kokkos::SpaceAccessibility<Kokkos::DefaultExecutionSpace, Space>::accessible;
  constexpr bool separate_device =
      !std::is_same<Kokkos::DefaultExecutionSpace::memory_space, Kokkos::HostSpace>::value;
  if (!host) return MemorySpace::device;
  return separate_device && device ? MemorySpace::shared : MemorySpace::host;
}

}  // namespace detail

/// Describes a Kokkos View of rank 1, 2 or 3: its pointer, extents, strides, element type and
/// memory space. No copy is made and no reference is kept.
///
/// dtypes: double, float, std::int64_t. Works for LayoutLeft, LayoutRight and LayoutStride.
/// Threads: safe. Since: 0.1.
template <class View>
Tensor as_tensor(const View& view) {
  constexpr int rank = static_cast<int>(View::rank);
  static_assert(rank >= 1 && rank <= 3, "postlude::as_tensor: the View must have rank 1, 2 or 3");
  using Element = typename View::non_const_value_type;
  Tensor tensor;
  tensor.data = const_cast<Element*>(view.data());
  tensor.dtype = DataTypeOf<Element>::value;
  tensor.rank = rank;
  for (int dimension = 0; dimension < rank; ++dimension) {
    tensor.extent[dimension] = static_cast<std::int64_t>(view.extent(dimension));
    tensor.stride[dimension] = static_cast<std::int64_t>(view.stride(dimension));
  }
  tensor.memory_space = detail::memory_space_of<typename View::memory_space>();
  return tensor;
}

/// The problem of multiplying with these two Views. Since: 0.1.
template <class XView, class WView>
LinearProblem linear(const XView& x, const WView& w) {
  return LinearProblem{as_tensor(x), as_tensor(w), ComputeMode::automatic};
}

}  // namespace postlude

#endif
