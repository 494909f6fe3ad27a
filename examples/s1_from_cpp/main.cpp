// A linear layer with a fused epilogue, out = min(x w^T + bias, c) - c, in two ways: as an
// expression written with C++ operators, and as a functor of our own.

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>

#include <postlude/postlude.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Space>;
using Vector = Kokkos::View<float*, Space>;

constexpr float c = 2;

void by_expression(const Matrix& x, const Matrix& w, const Vector& bias, const Matrix& out) {
  const auto y = postlude::y();
  const auto result = postlude::min(y + postlude::row("bias"), postlude::scalar("c"));
  const postlude::Plan plan(Space(), postlude::linear(x, w), result - postlude::scalar("c"));
  plan(x, w, {{"bias", bias}, {"c", c}}, out);
}

/// Called for every element; anything that C++ can say on the backend can stand here.
struct MinSubtract {
  Vector bias;

  KOKKOS_FUNCTION float operator()(float y, std::int64_t, std::int64_t n) const {
    const float value = y + bias(n);
    return (value < c ? value : c) - c;
  }
};

void by_functor(const Matrix& x, const Matrix& w, const Vector& bias, const Matrix& out) {
  const postlude::FunctorPlan<Matrix> plan(Space(), x, w);
  plan(x, w, out, MinSubtract{bias});
}

/// Compares with a plain loop in double; the number of elements outside the tolerance.
int count_wrong(const Matrix& x, const Matrix& w, const Vector& bias, const Matrix& out) {
  const auto copy = [](const auto& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  };
  const auto host_x = copy(x);
  const auto host_w = copy(w);
  const auto host_bias = copy(bias);
  const auto host_out = copy(out);  // waits for the plan
  int wrong = 0;
  for (std::size_t m = 0; m < out.extent(0); ++m) {
    for (std::size_t n = 0; n < out.extent(1); ++n) {
      double y = host_bias(n);
      for (std::size_t k = 0; k < x.extent(1); ++k) y += double(host_x(m, k)) * host_w(n, k);
      const double expected = std::fmin(y, c) - c;
      const double error = std::fabs(host_out(m, n) - expected);
      if (!(error <= 1e-4 + 1e-4 * std::fabs(expected))) ++wrong;
    }
  }
  return wrong;
}

/// Numbers in [low, high).
struct Fill {
  float* values;
  float low, high;

  KOKKOS_FUNCTION void operator()(int i) const {
    values[i] = low + (high - low) * static_cast<float>(i * 37 % 101) / 101;
  }
};

template <class View>
void fill(const View& view, float low, float high) {
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<Space>(0, view.size()),
                       Fill{view.data(), low, high});
}

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const int m = 33, n = 65, k = 300;
  const Matrix x("x", m, k), w("w", n, k), out("out", m, n);
  const Vector bias("bias", n);
  fill(x, 0, 1);
  fill(w, -1, 1);
  fill(bias, -1, 1);

  by_expression(x, w, bias, out);
  const int wrong_by_expression = count_wrong(x, w, bias, out);
  std::printf("by expression: %d of %d elements are wrong\n", wrong_by_expression, m * n);

  Kokkos::deep_copy(out, 0);
  by_functor(x, w, bias, out);
  const int wrong_by_functor = count_wrong(x, w, bias, out);
  std::printf("by functor: %d of %d elements are wrong\n", wrong_by_functor, m * n);
  return wrong_by_expression + wrong_by_functor != 0;
}
