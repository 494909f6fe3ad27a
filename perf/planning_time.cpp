// How long it takes to make a plan, without weights: parsing, lowering, rewriting, cutting into
// stages, asking the engines. A program of 20 operations must take less than 1 ms.
//
//     postlude_perf_planning_time [REPEAT]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <postlude/postlude.hpp>

namespace {

struct PlanningCase {
  const char* what;
  const char* text;
};

const PlanningCase cases[] = {
    {"1 operation", "y + bias"},
    {"S1", "min(y + bias, c) - c"},
    {"S2, dim 1", "m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))"},
    {"20 operations, nothing to rewrite",
     "a = gelu((y + bias) * scale); b = tanh(a * 0.5 + residual) - sigmoid(a / c); "
     "d = b * exp(-abs(b)) + silu(a); e = d - max(d, dim=1); f = exp(e); "
     "log(f / sum(f, dim=1) + 0.001) * c"},
    {"20 operations, most to rewrite",
     "a = relu(relu((y + bias) * 1)); b = clamp(clamp(a, -1, 9), 0, 5) / 4; d = where(1, b, a) - "
     "0; "
     "e = abs(abs(d)) ** 2; f = min(max(relu6(e), 1), 3); g = -(-f); h = (g + bias) * (bias + g); "
     "h * (2 * 3 - 5) + exp(0) * h"}};

double seconds_of_plan(const postlude::LinearProblem& problem, const char* text) {
  using clock = std::chrono::steady_clock;
  postlude::PlanOptions options;
  options.compilation = postlude::StageCompilation::never;
  const std::vector<postlude::OperandDeclaration> operands = {
      {"bias", postlude::OperandKind::row},
      {"scale", postlude::OperandKind::column},
      {"residual", postlude::OperandKind::matrix},
      {"c", postlude::OperandKind::scalar}};
  const auto begin = clock::now();
  const postlude::Plan plan(postlude::ExecutionSpace(Kokkos::DefaultExecutionSpace()), problem,
                            text, operands, options);
  return std::chrono::duration<double>(clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int repeat = argc > 1 ? std::max(1, std::atoi(argv[1])) : 201;
  Kokkos::initialize(argc, argv);
  {
    postlude::LinearProblem problem;
    for (postlude::Tensor* tensor : {&problem.x, &problem.w}) {
      tensor->extent[0] = tensor == &problem.x ? 128 : 4096;
      tensor->extent[1] = 4096;
      tensor->stride[0] = 4096;
      tensor->stride[1] = 1;
    }
    if (std::string(Kokkos::DefaultExecutionSpace::name()) == "Cuda")
      problem.x.memory_space = problem.w.memory_space = postlude::MemorySpace::device;
    for (const PlanningCase& each : cases) {
      std::vector<double> seconds;
      for (int i = 0; i < repeat; ++i) seconds.push_back(seconds_of_plan(problem, each.text));
      std::sort(seconds.begin(), seconds.end());
      std::printf("%-36s median %8.3f ms, fastest %8.3f ms, slowest %8.3f ms of %d\n", each.what,
                  1e3 * seconds[seconds.size() / 2], 1e3 * seconds.front(), 1e3 * seconds.back(),
                  repeat);
    }
  }
  Kokkos::finalize();
  return 0;
}
