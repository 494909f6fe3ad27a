// Times the two founding workloads beside their parts: the bare GEMM, and hand-written Kokkos
// kernels of the same epilogues. Results are checked before anything is timed.

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <postlude/postlude.hpp>

#include "random_fill.hpp"
#include "timing.hpp"

namespace {

using postlude::perf::Timing;
using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;
using Vector = Kokkos::View<float*, Memory>;

void fill(float* data, std::size_t count, std::uint64_t seed, double low, double high) {
  Kokkos::parallel_for("fill",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, count),
                       postlude::perf::FillUniform{data, seed, low, high});
}

/// S1's epilogue written by hand: y = min(y + bias, c) - c in place, four elements a thread.
struct HandWrittenClamp {
  float* y;
  const float* bias;
  float c;
  std::int64_t columns;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    struct alignas(16) Four {
      float lanes[4];
    };
    Four* place = reinterpret_cast<Four*>(y) + i;
    Four value = *place;
    const std::uint32_t quads = static_cast<std::uint32_t>(columns / 4);
    const Four b = reinterpret_cast<const Four*>(bias)[static_cast<std::uint32_t>(i) % quads];
    for (int lane = 0; lane < 4; ++lane) {
      const float sum = value.lanes[lane] + b.lanes[lane];
      value.lanes[lane] = (sum < c || sum != sum ? sum : c) - c;
    }
    *place = value;
  }
};

void print(const char* what, const Timing& timing, double flops, double bytes) {
  std::printf("%-46s %10.4f ms +- %.4f", what, timing.median * 1e3, timing.spread * 1e3);
  if (flops > 0) std::printf("  %8.2f TFLOP/s", flops / timing.median * 1e-12);
  if (bytes > 0) std::printf("  %8.3f TB/s", bytes / timing.median * 1e-12);
  std::printf("\n");
}

void check(const postlude::Plan& plan, const Matrix& x, const Matrix& w, const Vector& bias,
           bool has_scalar, const Matrix& out) {
  const auto host = [](const auto& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  };
  const auto hx = host(x);
  const auto hw = host(w);
  const auto hb = host(bias);
  const auto ho = host(out);
  std::vector<postlude::Binding> bindings = {{"bias", hb}};
  if (has_scalar) bindings.push_back({"c", 2.0});
  const auto report = postlude::compare_with_reference(
      plan,
      {postlude::as_tensor(hx), postlude::as_tensor(hw), bindings, {postlude::as_tensor(ho)}});
  std::printf("  against float64: %lld of %lld outside tolerance, largest error %.3g\n",
              static_cast<long long>(report[0].violations),
              static_cast<long long>(report[0].elements), report[0].largest_absolute_error);
  if (report[0].violations != 0) std::exit(1);
}

int run(double shrink) {
  const auto size = [&](double full) { return static_cast<std::size_t>(full * shrink); };
  const Space space;
  const bool device = postlude::detail::is_device_space<Space>();
  const int repeats = device ? 20 : 5;

  {
    const std::size_t m = 128, n = size(16384), k = size(16384);
    Matrix x(Kokkos::view_alloc(Kokkos::WithoutInitializing, "x"), m, k);
    Matrix w(Kokkos::view_alloc(Kokkos::WithoutInitializing, "w"), n, k);
    Matrix out("out", m, n);
    Vector bias("bias", n);
    const double bound = 1 / std::sqrt(static_cast<double>(k));
    fill(x.data(), x.size(), 1, 0, 1);
    fill(w.data(), w.size(), 2, -bound, bound);
    fill(bias.data(), n, 3, -bound, bound);
    Kokkos::fence();
    using postlude::OperandKind;
    const postlude::Plan gemm(space, postlude::linear(x, w), "y");
    const postlude::Plan plan(space, postlude::linear(x, w), "min(y + bias, c) - c",
                              {{"bias", OperandKind::row}, {"c", OperandKind::scalar}});
    const postlude::Plan sweep(
        space, postlude::linear(x, w), "min(v + bias, c) - c",
        {{"v", OperandKind::matrix}, {"bias", OperandKind::row}, {"c", OperandKind::scalar}});
    Matrix copy("copy", m, n);
    std::printf("S1: x %zux%zu, w %zux%zu, min(y + bias, c) - c\n", m, k, n, k);
    plan(x, w, {{"bias", bias}, {"c", 2.0}}, out);
    Kokkos::fence();
    check(plan, x, w, bias, true, out);
    const int inner = device ? 10 : 1;
    const double bytes = 2.0 * sizeof(float) * static_cast<double>(m * n);
    print("  GEMM alone",
          postlude::perf::time_repeated(space, repeats, inner, [&] { gemm(x, w, {}, out); }),
          plan.gemm_flops(), 0);
    print("  GEMM and epilogue",
          postlude::perf::time_repeated(space, repeats, inner,
                                        [&] {
                                          plan(x, w, {{"bias", bias}, {"c", 2.0}}, out);
                                        }),
          plan.gemm_flops(), 0);
    const int sweeps = device ? 200 : 20;
    print(
        "  epilogue alone, other memory",
        postlude::perf::time_repeated(space, repeats, sweeps,
                                      [&] {
                                        sweep(x, w, {{"v", copy}, {"bias", bias}, {"c", 2.0}}, out);
                                      }),
        0, bytes);
    Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>> policy(space, 0, m * n / 4);
    print("  hand-written epilogue, in place",
          postlude::perf::time_repeated(space, repeats, sweeps,
                                        [&] {
                                          Kokkos::parallel_for(
                                              "hand_written", policy,
                                              HandWrittenClamp{out.data(), bias.data(), 2.0f,
                                                               static_cast<std::int64_t>(n)});
                                        }),
          0, bytes);
  }
  for (const int dim : {0, 1}) {
    const std::size_t m = size(1024), n = size(8192), k = size(8192);
    Matrix x(Kokkos::view_alloc(Kokkos::WithoutInitializing, "x"), m, k);
    Matrix w(Kokkos::view_alloc(Kokkos::WithoutInitializing, "w"), n, k);
    Matrix out("out", dim == 0 ? 1 : m, dim == 0 ? n : 1);
    Matrix y("y", m, n);
    Vector bias("bias", n);
    const double bound = 1 / std::sqrt(static_cast<double>(k));
    fill(x.data(), x.size(), 1, 0, 1);
    fill(w.data(), w.size(), 2, -bound, bound);
    fill(bias.data(), n, 3, -bound, bound);
    Kokkos::fence();
    const std::string text =
        "m = max(y + bias, dim=" + std::to_string(dim) + "); gelu(m - mean(m, dim=1))";
    std::string sweep_text = text;
    sweep_text.replace(sweep_text.find("y + "), 1, "v");
    const postlude::Plan gemm(space, postlude::linear(x, w), "y");
    const postlude::Plan plan(space, postlude::linear(x, w), text,
                              {{"bias", postlude::OperandKind::row}});
    const postlude::Plan sweep(
        space, postlude::linear(x, w), sweep_text,
        {{"v", postlude::OperandKind::matrix}, {"bias", postlude::OperandKind::row}});
    std::printf("S2: x %zux%zu, w %zux%zu, %s\n", m, k, n, k, text.c_str());
    plan(x, w, {{"bias", bias}}, out);
    Kokkos::fence();
    check(plan, x, w, bias, false, out);
    const int inner = device ? 10 : 1;
    print("  GEMM alone",
          postlude::perf::time_repeated(space, repeats, inner, [&] { gemm(x, w, {}, y); }),
          plan.gemm_flops(), 0);
    print("  GEMM and epilogue",
          postlude::perf::time_repeated(space, repeats, inner,
                                        [&] {
                                          plan(x, w, {{"bias", bias}}, out);
                                        }),
          plan.gemm_flops(), 0);
    print("  epilogue alone",
          postlude::perf::time_repeated(space, repeats, device ? 100 : 5,
                                        [&] {
                                          sweep(x, w, {{"v", y}, {"bias", bias}}, out);
                                        }),
          0, static_cast<double>(m * n) * sizeof(float));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  const double shrink = argc > 1 ? std::atof(argv[1]) : 1.0;
  if (!(shrink > 0 && shrink <= 1)) {
    std::fprintf(stderr,
                 "usage: %s [shrink], 0 < shrink <= 1: factor for in_features and out_features\n",
                 argv[0]);
    return 2;
  }
  return run(shrink);
}
