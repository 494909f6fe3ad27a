// out = min(x w^T + bias, 2) - 2 in numbers that are exact in float32.

#include <Kokkos_Core.hpp>

#include <cstdio>

#include <postlude/postlude.hpp>

#if __has_include("plan/planner.hpp") || __has_include("src/plan/planner.hpp")
#error "the library's private headers are on a consumer's include path"
#endif

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  const Matrix x("x", 2, 2), w("w", 3, 2), out("out", 2, 3);
  const Kokkos::View<float*, Kokkos::HostSpace> bias("bias", 3);
  const float x_values[] = {1, 2, 0, 0.5f};
  const float w_values[] = {1, 1, -1, 0.5f, 4, -2};
  const float bias_values[] = {0, 0.25f, 1};
  const float expected[] = {0, -1.75f, -1, -1.5f, -1.5f, -2};
  for (int i = 0; i < 4; ++i) x.data()[i] = x_values[i];
  for (int i = 0; i < 6; ++i) w.data()[i] = w_values[i];
  for (int i = 0; i < 3; ++i) bias.data()[i] = bias_values[i];

  const Space space;
  const postlude::Plan plan(space, postlude::linear(x, w),
                            postlude::min(postlude::y() + postlude::row("bias"), 2) - 2);
  plan(x, w, {{"bias", bias}}, out);
  space.fence();

  for (int i = 0; i < 6; ++i) {
    if (out.data()[i] == expected[i]) continue;
    std::printf("element %d is %g instead of %g\n", i, out.data()[i], expected[i]);
    return 1;
  }
  std::printf("Postlude %s from C++\n", POSTLUDE_VERSION_STRING);
}
