// What generality costs: for ten programs, the sweeps of a plan beside Kokkos kernels that were
// written by hand for just that program, on the same data, in one run. Both results are compared
// before anything is timed.

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <postlude/postlude.hpp>

#include "random_fill.hpp"
#include "timing.hpp"

namespace {

using postlude::perf::Timing;
using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;
using Vector = Kokkos::View<float*, Memory>;
using Team = Kokkos::TeamPolicy<Space>::member_type;

struct Data {
  Matrix v;  ///< stands for y
  Matrix residual;
  Vector row;
  Matrix full;    ///< result of v's shape
  Matrix column;  ///< result of a reduction over dim 1
};

/// One operation on every element, as a person would write it: a flat loop over contiguous memory.
template <class Formula>
struct Pointwise {
  const float* v;
  const float* row;
  const float* residual;
  float* out;
  std::int64_t columns;
  Formula formula;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const std::uint32_t n = static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(columns);
    out[i] = formula(v[i], row[n], residual[i]);
  }
};

template <class Formula>
void pointwise(const Data& data, const Formula& formula) {
  const std::int64_t count = static_cast<std::int64_t>(data.v.size());
  Kokkos::parallel_for(
      "hand_written", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, count),
      Pointwise<Formula>{data.v.data(), data.row.data(), data.residual.data(), data.full.data(),
                         static_cast<std::int64_t>(data.v.extent(1)), formula});
}

KOKKOS_INLINE_FUNCTION float sigmoid(float v) { return 1 / (1 + std::exp(-v)); }
KOKKOS_INLINE_FUNCTION float mish(float v) { return v * std::tanh(std::log1p(std::exp(v))); }
KOKKOS_INLINE_FUNCTION float gelu(float v) { return v * 0.5f * std::erfc(v * -0.70710678f); }
KOKKOS_INLINE_FUNCTION float clamp(float v, float low, float high) {
  return v < low ? low : (v > high ? high : v);
}

struct LeakyScale {
  KOKKOS_FUNCTION float operator()(float v, float row, float) const {
    const float s = v * row;
    return s > 0 ? s : 0.1f * s;
  }
};
struct MinSubtract {
  KOKKOS_FUNCTION float operator()(float v, float row, float) const {
    const float s = v + row;
    return (s < 0.5f ? s : 0.5f) - 0.5f;
  }
};
struct TwoMish {
  KOKKOS_FUNCTION float operator()(float v, float, float) const { return mish(mish(v)); }
};
struct SiluScale {
  KOKKOS_FUNCTION float operator()(float v, float, float) const { return v * sigmoid(v) * 2; }
};
struct DivideGelu {
  KOKKOS_FUNCTION float operator()(float v, float, float) const { return gelu(v / 3); }
};
struct ClampTanh {
  KOKKOS_FUNCTION float operator()(float v, float, float) const {
    return clamp(std::tanh(clamp(v * sigmoid(v) / 2, -1, 1)), -0.5f, 0.5f);
  }
};
struct AddRelu {
  KOKKOS_FUNCTION float operator()(float v, float row, float residual) const {
    const float s = v + row + residual;
    return s > 0 ? s : 0;
  }
};

/// A row's sum, by one team (a thread on a CPU).
struct RowSum {
  Matrix v;
  Matrix out;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const auto m = team.league_rank();
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, static_cast<int>(v.extent(1))),
        [&](const int n, double& partial) { partial += static_cast<double>(v(m, n) / 2); }, sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { out(m, 0) = static_cast<float>(sum) * 1.5f; });
  }
};

/// softmax(gelu(v)) of a row in three passes over it.
struct GeluSoftmax {
  Matrix v;
  Matrix out;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const auto m = team.league_rank();
    const int columns = static_cast<int>(v.extent(1));
    float largest = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, columns),
        [&](const int n, float& partial) {
          const float g = gelu(v(m, n));
          if (g > partial) partial = g;
        },
        Kokkos::Max<float>(largest));
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, columns),
        [&](const int n, double& partial) {
          partial += static_cast<double>(std::exp(gelu(v(m, n)) - largest));
        },
        sum);
    const float total = static_cast<float>(sum);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, columns), [&](const int n) {
      out(m, n) = std::exp(gelu(v(m, n)) - largest) / total;
    });
  }
};

/// layer_norm(v) of a row: mean, variance, then the row.
struct LayerNorm {
  Matrix v;
  Matrix out;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const auto m = team.league_rank();
    const int columns = static_cast<int>(v.extent(1));
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, columns),
        [&](const int n, double& partial) { partial += static_cast<double>(v(m, n)); }, sum);
    const float mean = static_cast<float>(sum / columns);
    double squares = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, columns),
        [&](const int n, double& partial) {
          const float d = v(m, n) - mean;
          partial += static_cast<double>(d * d);
        },
        squares);
    const float scale = 1 / std::sqrt(static_cast<float>(squares / columns) + 1e-5f);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, columns),
                         [&](const int n) { out(m, n) = (v(m, n) - mean) * scale; });
  }
};

template <class Kernel>
void by_row(const Data& data, const Kernel& kernel) {
  Kokkos::parallel_for(
      "hand_written",
      Kokkos::TeamPolicy<Space>(Space(), static_cast<int>(data.v.extent(0)), Kokkos::AUTO), kernel);
}

template <class View>
void fill(const View& view, std::uint64_t seed) {
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<Space>(0, view.size()),
                       postlude::perf::FillUniform{view.data(), seed, -2, 2});
}

double largest_difference(const Matrix& a, const std::vector<float>& b) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  double largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double difference =
        std::fabs(static_cast<double>(host.data()[i]) - static_cast<double>(b[i]));
    largest = difference <= largest ? largest : difference;
  }
  return largest;
}

std::vector<float> copy_of(const Matrix& matrix) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matrix);
  return std::vector<float>(host.data(), host.data() + host.size());
}

/// Times `text` (v stands for y) beside `by_hand`; false when their results differ.
template <class ByHand>
bool compare(const Data& data, const std::string& text, const Matrix& out, const ByHand& by_hand) {
  const Space space;
  const Matrix x("x", data.v.extent(0), 1), w("w", data.v.extent(1), 1);
  using postlude::OperandKind;
  const postlude::Plan plan(
      space, postlude::linear(x, w), text,
      {{"v", OperandKind::matrix}, {"row", OperandKind::row}, {"residual", OperandKind::matrix}});
  const postlude::Arguments arguments{
      postlude::as_tensor(x),
      postlude::as_tensor(w),
      {{"v", data.v}, {"row", data.row}, {"residual", data.residual}},
      {postlude::as_tensor(out)}};
  Kokkos::deep_copy(out, NAN);
  plan.execute(arguments);
  space.fence();
  const std::vector<float> result = copy_of(out);
  Kokkos::deep_copy(out, NAN);
  by_hand();
  space.fence();
  const double difference = largest_difference(out, result);
  const bool device = postlude::detail::is_device_space<Space>();
  const int inner = device ? 50 : 1;
  const Timing ours =
      postlude::perf::time_repeated(space, 15, inner, [&] { plan.execute(arguments); });
  const Timing theirs = postlude::perf::time_repeated(space, 15, inner, by_hand);
  std::printf("%-52s %9.2f us %9.2f us  %5.2fx  differ by %.2g\n", text.c_str(), ours.median * 1e6,
              theirs.median * 1e6, ours.median / theirs.median, difference);
  if (difference <= 1e-4) return true;
  std::printf("  the results differ\n");
  return false;
}

bool run(std::size_t rows, std::size_t columns) {
  Data data{Matrix("v", rows, columns), Matrix("residual", rows, columns), Vector("row", columns),
            Matrix("full", rows, columns), Matrix("column", rows, 1)};
  fill(data.v, 1);
  fill(data.residual, 2);
  fill(data.row, 3);
  Kokkos::fence();
  std::printf("%zux%zu float32 on %s: plan, by hand, ratio\n", rows, columns, Space::name());
  bool good = true;
  good &=
      compare(data, "leaky_relu(v * row, 0.1)", data.full, [&] { pointwise(data, LeakyScale()); });
  good &=
      compare(data, "min(v + row, 0.5) - 0.5", data.full, [&] { pointwise(data, MinSubtract()); });
  good &= compare(data, "mish(mish(v))", data.full, [&] { pointwise(data, TwoMish()); });
  good &= compare(data, "silu(v) * 2", data.full, [&] { pointwise(data, SiluScale()); });
  good &= compare(data, "gelu(v / 3)", data.full, [&] { pointwise(data, DivideGelu()); });
  good &= compare(data, "clamp(tanh(clamp(silu(v) / 2, -1, 1)), -0.5, 0.5)", data.full,
                  [&] { pointwise(data, ClampTanh()); });
  good &= compare(data, "relu(v + row + residual)", data.full, [&] { pointwise(data, AddRelu()); });
  good &= compare(data, "sum(v / 2, dim=1) * 1.5", data.column, [&] {
    by_row(data, RowSum{data.v, data.column});
  });
  good &= compare(data, "softmax(gelu(v), dim=1)", data.full, [&] {
    by_row(data, GeluSoftmax{data.v, data.full});
  });
  good &= compare(data, "layer_norm(v)", data.full, [&] {
    by_row(data, LayerNorm{data.v, data.full});
  });
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  const long rows = argc > 1 ? std::atol(argv[1]) : 1024;
  const long columns = argc > 2 ? std::atol(argv[2]) : 8192;
  if (rows < 1 || columns < 1) {
    std::fprintf(stderr, "usage: %s [rows] [columns]\n", argv[0]);
    return 2;
  }
  return run(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)) ? 0 : 1;
}
