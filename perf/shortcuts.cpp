// Shortcuts on CUDA, decided on the device: how long an execution takes that is proved not to need
// its GEMM, one whose proof fails, and one of a plan without the shortcut. Checks the results on
// the way. Prints GPU time in microseconds, medians: of single executions in a row between two
// events, and replayed from a graph of several. x is another one in every execution, so that it is
// not in the cache.
//
//   postlude_perf_shortcuts [M N K]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine_data.hpp"
#include "timing.hpp"

namespace {

using namespace postlude;
using namespace postlude::perf;

constexpr int turns = 8;  ///< different x

struct Program {
  const char* name;
  const char* text;
};
const Program programs[] = {{"S2, dim=1", "m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))"},
                            {"sum over dim 1", "sum(y, dim=1)"},
                            {"sum over dim 1, with bias", "sum(y + bias, dim=1)"},
                            {"mean over dim 0", "mean(y + bias, dim=0)"}};

struct Size {
  std::int64_t m = 1024;
  std::int64_t n = 8192;
  std::int64_t k = 8192;
};

struct SetFirst {
  float* elements;
  float value;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { elements[i] = value; }
};

class Measurement {
 public:
  Measurement(const Size& size, const Program& program)
      : size_(size),
        has_bias_(std::string(program.text).find("bias") != std::string::npos),
        is_row_(std::string(program.text).find("dim=0") != std::string::npos),
        w_(uniform_matrix(size.n, size.k, 2, -bound(), bound())),
        bias_(uniform_matrix(1, size.n, 3, -bound(), bound())) {
    for (int i = 0; i < turns; ++i)
      xs_.push_back(uniform_matrix(size.m, size.k, 10 + static_cast<std::uint64_t>(i), 0, 1));
    PlanOptions options;
    plan_.emplace(space_, problem(), program.text, operands(), options);
    prepared_.emplace(*plan_, as_tensor(w_));
    options.without_rewrites = {"vanishing_differences", "sums_of_products"};
    plain_.emplace(space_, problem(), program.text, operands(), options);
    plain_prepared_.emplace(*plain_, as_tensor(w_));
  }

  void run(const char* name) {
    const bool is_right = check();
    std::printf("%s%s\n", name, is_right ? "" : ": WRONG");
    for (const bool is_prepared : {true, false}) {
      set_first(bias_, 0);
      const Timing proved[] = {in_a_row(*plan_, is_prepared), from_graph(*plan_, is_prepared)};
      // The bias alone is too large, which the GEMM has no trouble with.
      set_first(bias_, 1e30f);
      Timing failed[2];
      if (has_bias_) {
        failed[0] = in_a_row(*plan_, is_prepared);
        failed[1] = from_graph(*plan_, is_prepared);
      }
      const Timing plain[] = {in_a_row(*plain_, is_prepared), from_graph(*plain_, is_prepared)};
      std::printf("  %-10s proved %7.2f, from a graph %7.2f; without %7.1f, %7.1f us",
                  is_prepared ? "prepared" : "unprepared", 1e6 * proved[0].median,
                  1e6 * proved[1].median, 1e6 * plain[0].median, 1e6 * plain[1].median);
      if (has_bias_)
        std::printf("; not proved %7.1f, %7.1f us", 1e6 * failed[0].median, 1e6 * failed[1].median);
      std::printf("\n");
      std::fflush(stdout);
    }
    is_right_ = is_right;
  }

  bool is_right() const { return is_right_; }

 private:
  double bound() const { return 1 / std::sqrt(static_cast<double>(size_.k)); }
  LinearProblem problem() const {
    return {as_tensor(xs_[0]), as_tensor(w_), ComputeMode::automatic};
  }
  static std::vector<OperandDeclaration> operands() { return {{"bias", OperandKind::row}}; }

  void set_first(const FloatMatrix& matrix, float value) const {
    for_each(1, SetFirst{matrix.data(), value});
    Kokkos::fence();
  }

  Arguments arguments(const Plan& plan, bool is_prepared, int turn, const FloatMatrix& out) const {
    Tensor bias = as_tensor(bias_);
    bias.rank = 1;
    bias.extent[0] = size_.n;
    bias.stride[0] = 1;
    const PreparedWeights& weights = &plan == &*plan_ ? *prepared_ : *plain_prepared_;
    return {as_tensor(xs_[static_cast<std::size_t>(turn % turns)]),
            as_tensor(w_),
            {{"bias", bias}},
            {as_tensor(out)},
            is_prepared ? &weights : nullptr};
  }

  FloatMatrix make_output() const {
    return is_row_ ? make_matrix(1, size_.n) : make_matrix(size_.m, 1);
  }

  Timing in_a_row(const Plan& plan, bool is_prepared) {
    const FloatMatrix out = make_output();
    std::vector<double> seconds;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    constexpr int inner = 40;
    for (int repeat = -1; repeat < 7; ++repeat) {
      cudaEventRecord(begin, space_.cuda_stream());
      for (int i = 0; i < inner; ++i) plan.execute(space_, arguments(plan, is_prepared, i, out));
      cudaEventRecord(end, space_.cuda_stream());
      cudaEventSynchronize(end);
      float milliseconds = 0;
      cudaEventElapsedTime(&milliseconds, begin, end);
      if (repeat >= 0) seconds.push_back(milliseconds * 1e-3 / inner);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return summarize(seconds);
  }

  Timing from_graph(const Plan& plan, bool is_prepared) {
    const FloatMatrix out = make_output();
    int turn = 0;
    return time_repeated(space_, 7, 2 * turns,
                         [&] { plan.execute(space_, arguments(plan, is_prepared, turn++, out)); });
  }

  std::vector<float> results(const Plan& plan, bool is_prepared) {
    const FloatMatrix out = make_output();
    Kokkos::deep_copy(out, -12345.0f);
    plan.execute(space_, arguments(plan, is_prepared, 0, out));
    space_.fence();
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
    return {host.data(), host.data() + host.size()};
  }

  bool check() {
    bool is_right = true;
    for (const float value : {0.0f, std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN(), 1e30f})
      for (const bool is_prepared : {true, false}) {
        set_first(xs_[0], value);
        const std::vector<float> ours = results(*plan_, is_prepared);
        const std::vector<float> expected = results(*plain_, is_prepared);
        int wrong = 0;
        for (std::size_t i = 0; i < ours.size(); ++i) {
          const bool is_same =
              ours[i] == expected[i] || (std::isnan(ours[i]) && std::isnan(expected[i])) ||
              std::fabs(ours[i] - expected[i]) <= 1e-4f + 1e-4f * std::fabs(expected[i]);
          if (!is_same && wrong++ == 0)
            std::printf("with %g: element %zu is %g, expected %g\n", static_cast<double>(value), i,
                        static_cast<double>(ours[i]), static_cast<double>(expected[i]));
        }
        is_right = is_right && wrong == 0;
      }
    set_first(xs_[0], 0);
    return is_right;
  }

  Space space_;
  Size size_;
  bool has_bias_;
  bool is_row_;
  std::vector<FloatMatrix> xs_;
  FloatMatrix w_;
  FloatMatrix bias_;
  std::optional<Plan> plan_;
  std::optional<Plan> plain_;
  std::optional<PreparedWeights> prepared_;
  std::optional<PreparedWeights> plain_prepared_;
  bool is_right_ = false;
};

}  // namespace

int main(int count, char** arguments) {
  const Kokkos::ScopeGuard kokkos;
  Size size;
  if (count == 4)
    size = {std::atoll(arguments[1]), std::atoll(arguments[2]), std::atoll(arguments[3])};
  bool is_right = true;
  for (const Program& program : programs) {
    Measurement measurement(size, program);
    measurement.run(program.name);
    is_right = is_right && measurement.is_right();
  }
  return is_right ? 0 : 1;
}
