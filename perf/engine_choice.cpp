// Whether the engine that a plan chooses is the fastest one: times every engine that takes the
// problem, on 60 shapes, for the epilogue relu(y + bias). Where a choice is more than 5 % slower
// than the fastest, both are timed again in turns, and the medians of these ratios count. Fails
// when a choice is more than 5 % slower all the same.
//
// Arguments: the mode, of all of them, and then M, N and K of one shape.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "engine_data.hpp"
#include "timing.hpp"

namespace {

using namespace postlude;
using namespace postlude::perf;

struct Features {
  std::int64_t out, in;
};

constexpr std::int64_t batches[] = {1, 8, 64, 256, 1024, 8192};
constexpr Features features[] = {{256, 256},   {256, 32768}, {1024, 1024}, {2048, 8192},
                                 {4096, 4096}, {8192, 2048}, {8192, 8192}, {16384, 16384},
                                 {32768, 256}, {32768, 4096}};
constexpr const char* engines[] = {"kokkos_kernels", "cublaslt", "split", "hopper"};
constexpr double allowed_loss = 1.05;

struct Mode {
  const char* name;
  DataType dtype;
  ComputeMode compute;
};

constexpr Mode modes[] = {
    {"f32", DataType::float32, ComputeMode::f32},
    {"f32_emulated_f16x3", DataType::float32, ComputeMode::f32_emulated_f16x3},
    {"f16", DataType::float16, ComputeMode::automatic},
    {"bf16", DataType::bfloat16, ComputeMode::automatic}};

/// Inputs of the largest shape; the smaller ones lie at their beginning.
struct Memory {
  FloatMatrix x, w, bias, out;
};

Memory make_memory() {
  std::int64_t most_x = 0, most_w = 0, most_out = 0, widest = 0;
  for (const Features& each : features) {
    most_x = std::max(most_x, each.in);
    most_w = std::max(most_w, each.out * each.in);
    most_out = std::max(most_out, each.out);
    widest = std::max(widest, each.out);
  }
  constexpr std::int64_t rows = batches[std::size(batches) - 1];
  return {uniform_matrix(1, rows * most_x, 1, 0, 1), uniform_matrix(1, most_w, 2, -1, 1),
          uniform_matrix(1, widest, 3, -1, 1), make_matrix(1, rows * most_out)};
}

class Shapes {
 public:
  Shapes(const Mode& mode, const Memory& memory) : mode_(mode) {
    x_ = memory.x.data();
    w_ = memory.w.data();
    bias_ = memory.bias.data();
    out_ = memory.out.data();
    if (mode.dtype == DataType::float32) return;
    for (const FloatMatrix& matrix : {memory.x, memory.w, memory.bias})
      owners_.push_back(round_to(mode.dtype, matrix).small);
    Kokkos::fence();
    x_ = owners_[0].data();
    w_ = owners_[1].data();
    bias_ = owners_[2].data();
  }

  /// Prints a row; returns whether the choice was good.
  bool measure(std::int64_t m, const Features& shape) const {
    const std::string chosen = choice(m, shape);
    double best = HUGE_VAL;
    double own = HUGE_VAL;
    std::string fastest;
    std::printf("| %s | %lld | %lld | %lld |", mode_.name, static_cast<long long>(m),
                static_cast<long long>(shape.out), static_cast<long long>(shape.in));
    for (const char* const engine : engines) {
      const std::optional<double> seconds = time(m, shape, engine);
      if (!seconds) {
        std::printf(" - |");
        continue;
      }
      std::printf(" %.1f |", *seconds * 1e6);
      if (*seconds < best) {
        best = *seconds;
        fastest = engine;
      }
      if (chosen == engine) own = *seconds;
    }
    double loss = own / best;
    std::printf(" %s | %.2f", chosen.c_str(), loss);
    if (loss > allowed_loss) {
      loss = loss_in_turns(m, shape, chosen.c_str(), fastest.c_str());
      std::printf(", in turns %.2f%s", loss, loss > allowed_loss ? " <- slow" : "");
    }
    std::printf(" |\n");
    std::fflush(stdout);
    return loss <= allowed_loss;
  }

 private:
  LinearProblem problem(std::int64_t m, const Features& shape) const {
    return {matrix_tensor(x_, mode_.dtype, m, shape.in),
            matrix_tensor(w_, mode_.dtype, shape.out, shape.in), mode_.compute};
  }

  static Plan make_plan(const LinearProblem& problem, const PlanOptions& options) {
    return Plan(Space(), problem, "relu(y + bias)", {{"bias", OperandKind::row}}, options);
  }

  std::string choice(std::int64_t m, const Features& shape) const {
    // "engine; problem; algorithms".
    const std::string text = make_plan(problem(m, shape), {}).gemm_choice();
    return text.substr(0, text.find(';'));
  }

  /// What the chosen engine takes of the fastest one's time.
  double loss_in_turns(std::int64_t m, const Features& shape, const char* chosen,
                       const char* fastest) const {
    constexpr int turns = 7;
    std::vector<double> ratios;
    for (int i = 0; i < turns; ++i) {
      const double own = *time(m, shape, chosen);
      ratios.push_back(own / *time(m, shape, fastest));
    }
    std::sort(ratios.begin(), ratios.end());
    return ratios[turns / 2];
  }

  /// Seconds of one execution; none where the engine refuses.
  std::optional<double> time(std::int64_t m, const Features& shape, const char* engine) const {
    const Space space;
    PlanOptions options;
    options.engine = engine;
    const LinearProblem linear = problem(m, shape);
    std::optional<Plan> plan;
    try {
      plan.emplace(make_plan(linear, options));
    } catch (const Error& error) {
      if (error.status() != Status::unsupported) throw;
      return {};
    }
    Tensor bias = matrix_tensor(bias_, mode_.dtype, 1, shape.out);
    bias.rank = 1;
    bias.extent[0] = shape.out;
    bias.stride[0] = 1;
    const Arguments arguments{
        linear.x, linear.w, {{"bias", bias}}, {matrix_tensor(out_, mode_.dtype, m, shape.out)}};
    const bool is_long = plan->gemm_flops() > 1e11;
    return time_repeated(space, is_long ? 5 : 11, is_long ? 1 : 10,
                         [&] { plan->execute(space, arguments); })
        .median;
  }

  Mode mode_;
  std::vector<SmallMatrix> owners_;
  void* x_ = nullptr;
  void* w_ = nullptr;
  void* bias_ = nullptr;
  void* out_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  const Memory memory = make_memory();
  Kokkos::fence();
  std::printf("| mode | M | N | K |");
  for (const char* const engine : engines) std::printf(" %s, us |", engine);
  std::printf(" chosen | of the fastest |\n|---|---|---|---|---|---|---|---|---|---|\n");
  if (argc != 1 && argc != 2 && argc != 5) {
    std::fprintf(stderr, "usage: %s [MODE [M N K]]\n", argv[0]);
    return 2;
  }
  int slow = 0;
  int all = 0;
  const auto number = [&](int index) { return static_cast<std::int64_t>(std::atoll(argv[index])); };
  for (const Mode& mode : modes) {
    if (argc > 1 && std::strcmp(argv[1], mode.name) != 0) continue;
    const Shapes shapes(mode, memory);
    if (argc == 5) {
      ++all;
      if (!shapes.measure(number(2), {number(3), number(4)})) ++slow;
      continue;
    }
    for (const std::int64_t m : batches)
      for (const Features& shape : features) {
        ++all;
        if (!shapes.measure(m, shape)) ++slow;
      }
  }
  std::printf("\n%d of %d choices are more than 5 %% slower than the fastest engine\n", slow, all);
  return slow == 0 && all > 0 ? 0 : 1;
}
