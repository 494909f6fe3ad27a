// Compiled for each backend, with POSTLUDE_TEST_SPACE: the interface of Kokkos Views and functors.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <postlude/postlude.hpp>

#include "gemm/host_blas.hpp"
#include "support/catch.hpp"
#include "support/small_panels.hpp"

namespace {

using Space = POSTLUDE_TEST_SPACE;
using Device = Kokkos::Device<Space, Space::memory_space>;

template <class T, class Layout>
using Matrix = Kokkos::View<T**, Layout, Device>;
template <class T>
using Vector = Kokkos::View<T*, Device>;

/// Copies values through a mirror; `value(i, j)` gives them.
template <class View, class Value>
void fill(const View& view, const Value& value) {
  const auto mirror = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < view.extent(0); ++i)
    for (std::size_t j = 0; j < view.extent(1); ++j)
      mirror(i, j) = static_cast<typename View::non_const_value_type>(value(i, j));
  Kokkos::deep_copy(view, mirror);
}

double x_value(std::size_t i, std::size_t k) { return static_cast<double>((i * 7 + k) % 5) - 2; }
double w_value(std::size_t j, std::size_t k) { return static_cast<double>((j + k * 3) % 7) - 3; }
double bias_value(std::size_t j) { return static_cast<double>(j % 3); }

double y_value(std::size_t i, std::size_t j, std::size_t depth) {
  double sum = 0;
  for (std::size_t k = 0; k < depth; ++k) sum += x_value(i, k) * w_value(j, k);
  return sum;
}

/// The number of elements of `view` that are not `value(i, j)`.
template <class View, class Value>
std::size_t count_wrong(const View& view, const Value& value) {
  const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < view.extent(0); ++i)
    for (std::size_t j = 0; j < view.extent(1); ++j)
      wrong += static_cast<double>(mirror(i, j)) == value(i, j) ? 0 : 1;
  return wrong;
}

constexpr std::size_t rows = 19;
constexpr std::size_t columns = 37;
constexpr std::size_t depth = 11;

template <class T, class XLayout, class WLayout, class OutLayout>
void check_plan_of_views() {
  const Matrix<T, XLayout> x("x", rows, depth);
  const Matrix<T, WLayout> w("w", columns, depth);
  const Matrix<T, OutLayout> out("out", rows, columns);
  const Vector<T> bias("bias", columns);
  fill(x, x_value);
  fill(w, w_value);
  const auto mirror = Kokkos::create_mirror_view(bias);
  for (std::size_t j = 0; j < columns; ++j) mirror(j) = static_cast<T>(bias_value(j));
  Kokkos::deep_copy(bias, mirror);

  postlude::PlanOptions options;
  options.layout = std::is_same<OutLayout, Kokkos::LayoutLeft>::value
                       ? postlude::ResultLayout::column_major
                       : postlude::ResultLayout::row_major;
  const auto y = postlude::y();
  const postlude::Plan plan(
      Space(), postlude::linear(x, w),
      min(y + postlude::operand("bias", postlude::OperandKind::row), 2.0f) - 2.0f, {}, options);
  plan(x, w, {{"bias", bias}}, out);
  Space().fence();
  CHECK(count_wrong(out, [](std::size_t i, std::size_t j) {
          return std::min(y_value(i, j, depth) + bias_value(j), 2.0) - 2.0;
        }) == 0);
}

template <class T>
struct ScaleByPlace {
  T factor;
  KOKKOS_FUNCTION T operator()(T value, std::int64_t m, std::int64_t n) const {
    return factor * value + static_cast<T>(m * 100 + n);
  }
};

template <class T, class Layout>
void check_functor() {
  const Matrix<T, Kokkos::LayoutRight> x("x", rows, depth);
  const Matrix<T, Kokkos::LayoutLeft> w("w", columns, depth);
  const Matrix<T, Layout> out("out", rows, columns);
  fill(x, x_value);
  fill(w, w_value);
  const postlude::FunctorPlan<Matrix<T, Layout>> plan(Space(), x, w);
  plan(x, w, out, ScaleByPlace<T>{T(2)});
  Space().fence();
  CHECK(count_wrong(out, [](std::size_t i, std::size_t j) {
          return 2 * y_value(i, j, depth) + static_cast<double>(i * 100 + j);
        }) == 0);
}

std::vector<std::string>& labels() {
  static std::vector<std::string> list;
  return list;
}

void record_label(const char* name, std::uint32_t, std::uint64_t*) {
  const std::string label = name;
  if (label.find("postlude::") != std::string::npos) labels().push_back(label);
}

void record_region(const char* label) {
  if (std::string(label).find("postlude::") == 0) labels().push_back(label);
}

/// Labels of the library's kernels and regions in one execution of `text`.
std::vector<std::string> kernels_of(const std::string& text, const std::string& engine = "") {
  const Matrix<float, Kokkos::LayoutRight> x("x", rows, depth);
  const Matrix<float, Kokkos::LayoutRight> w("w", columns, depth);
  postlude::PlanOptions options;
  options.engine = engine;
  const postlude::Plan plan(Space(), postlude::linear(x, w), text, {}, options);
  const std::vector<std::int64_t> extents = plan.result_extents(0);
  const Matrix<float, Kokkos::LayoutRight> out("out", static_cast<std::size_t>(extents[1]),
                                               static_cast<std::size_t>(extents[2]));
  labels().clear();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(record_label);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(record_label);
  Kokkos::Tools::Experimental::set_push_region_callback(record_region);
  plan(x, w, {}, out);
  Space().fence();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr);
  Kokkos::Tools::Experimental::set_push_region_callback(nullptr);
  return labels();
}

}  // namespace

TEST_CASE("a plan takes Kokkos Views of either layout and element type", "[conformance]") {
  check_plan_of_views<float, Kokkos::LayoutRight, Kokkos::LayoutRight, Kokkos::LayoutRight>();
  check_plan_of_views<float, Kokkos::LayoutLeft, Kokkos::LayoutRight, Kokkos::LayoutLeft>();
  check_plan_of_views<double, Kokkos::LayoutLeft, Kokkos::LayoutLeft, Kokkos::LayoutRight>();
  check_plan_of_views<double, Kokkos::LayoutRight, Kokkos::LayoutLeft, Kokkos::LayoutLeft>();
}

TEST_CASE("a plan takes subviews", "[conformance]") {
  const Matrix<double, Kokkos::LayoutRight> x_parent("x", rows + 5, depth + 4);
  const Matrix<double, Kokkos::LayoutLeft> w_parent("w", 2 * columns, depth);
  const Matrix<double, Kokkos::LayoutRight> out_parent("out", rows + 2, columns + 3);
  const auto x = Kokkos::subview(x_parent, std::make_pair(std::size_t(2), rows + 2),
                                 std::make_pair(std::size_t(3), depth + 3));
  const auto w = Kokkos::subview(w_parent, std::make_pair(columns, 2 * columns), Kokkos::ALL());
  const auto out = Kokkos::subview(out_parent, std::make_pair(std::size_t(1), rows + 1),
                                   std::make_pair(std::size_t(2), columns + 2));
  fill(x_parent, [](std::size_t i, std::size_t k) {
    const bool is_inside = i >= 2 && i < rows + 2 && k >= 3 && k < depth + 3;
    return is_inside ? x_value(i - 2, k - 3) : 1e300;
  });
  fill(w_parent,
       [](std::size_t j, std::size_t k) { return j >= columns ? w_value(j - columns, k) : 1e300; });
  const postlude::Plan plan(Space(), postlude::linear(x, w), "relu(y)");
  plan(x, w, {}, out);
  Space().fence();
  CHECK(count_wrong(out_parent, [](std::size_t i, std::size_t j) {
          const bool is_inside = i >= 1 && i < rows + 1 && j >= 2 && j < columns + 2;
          return is_inside ? std::max(y_value(i - 1, j - 2, depth), 0.0) : 0.0;
        }) == 0);
}

TEST_CASE("a functor of the caller's is the epilogue", "[conformance]") {
  check_functor<float, Kokkos::LayoutRight>();
  check_functor<float, Kokkos::LayoutLeft>();
  check_functor<double, Kokkos::LayoutRight>();
  check_functor<double, Kokkos::LayoutLeft>();
}

TEST_CASE("a pointwise epilogue is one kernel, named after its sweep and backend",
          "[conformance]") {
  const std::string backend = postlude::name_of(postlude::detail::BackendOf<Space>::value);
  const postlude::test::SmallPanels whole(std::size_t(1) << 40);
  CHECK(kernels_of("min(y + 1, 2) - 2") ==
        std::vector<std::string>{"postlude::sweep::pointwise[" + backend + "]"});
  CHECK(kernels_of("gelu(y * y + tanh(y)) / (abs(y) + 1)").size() == 1);
  CHECK(kernels_of("y").empty());
  for (const std::string& label : kernels_of("m = max(y, dim=0); gelu(m - mean(m, dim=1))")) {
    INFO(label);
    CHECK(label.find("postlude::sweep::") == 0);
    CHECK(label.find("[" + backend + "]") != std::string::npos);
  }
}

TEST_CASE("panels of threads are one region, named after the backend", "[conformance]") {
  if (postlude::detail::BackendOf<Space>::value != postlude::Backend::openmp ||
      !postlude::detail::may_call_blas_in_parallel() || Space().concurrency() < 2)
    return;
  const postlude::test::SmallPanels by_threads(std::size_t(1) << 40, true);
  CHECK(kernels_of("min(y + 1, 2) - 2", "kokkos_kernels") ==
        std::vector<std::string>{"postlude::panels[openmp]"});
}
