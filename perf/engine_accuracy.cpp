// How exact the engines are: max |error| / (|x| |w|^T) over all elements, for several kinds of data
// and K from 1 to 65536, beside the strict float32 GEMM. The reference is a float64 GEMM of the
// same data on the GPU. Prints a Markdown table.

#include <cublas_v2.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine_data.hpp"

namespace {

using namespace postlude;
using namespace postlude::perf;
using DoubleMatrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::CudaSpace>;

enum class Data { uniform, normal, positive, scaled_rows, log_normal_2, log_normal_4, cancelling };

struct Kind {
  Data data;
  const char* name;
};

constexpr Kind kinds[] = {{Data::uniform, "uniform [0,1) x uniform +-"},
                          {Data::normal, "normal x normal"},
                          {Data::positive, "all positive"},
                          {Data::scaled_rows, "rows from 2^-40 to 2^40"},
                          {Data::log_normal_2, "log-normal, sigma 2"},
                          {Data::log_normal_4, "log-normal, sigma 4"},
                          {Data::cancelling, "sums that cancel to 1e-6"}};

/// An element of x (is_w false) or w.
struct Fill {
  float* data;
  std::int64_t k;
  Data kind;
  bool is_w;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const std::uint64_t seed = is_w ? 1000 : 2000;
    const std::int64_t row = i / k;
    const std::int64_t column = i % k;
    const double uniform = random_uniform(seed, i);
    const double normal = random_normal(seed + 7, i);
    double value = 0;
    switch (kind) {
      case Data::uniform:
        value = is_w ? (2 * uniform - 1) / std::sqrt(static_cast<double>(k)) : uniform;
        break;
      case Data::normal:
        value = normal;
        break;
      case Data::positive:
        value = uniform;
        break;
      case Data::scaled_rows:
        value = normal * std::exp2(std::floor(80 * random_uniform(seed + 3, row)) - 40);
        break;
      case Data::log_normal_2:
      case Data::log_normal_4:
        value = std::exp((kind == Data::log_normal_2 ? 2 : 4) * normal) *
                (is_w && uniform < 0.5 ? -1 : 1);
        break;
      case Data::cancelling: {
        // Neighbours are equal up to 1e-6 in x, and opposite in w.
        const double pair = random_normal(seed + 7, row * k + column / 2 * 2);
        value = column % 2 == 0 ? pair : is_w ? -pair : pair * (1 + 1e-6 * uniform);
        break;
      }
    }
    data[i] = static_cast<float>(value);
  }
};

struct Widen {
  const float* from;
  double* to;
  bool of_magnitudes;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const auto value = static_cast<double>(from[i]);
    to[i] = of_magnitudes && value < 0 ? -value : value;
  }
};

struct LargestError {
  const float* y;
  const double* reference;
  const double* magnitudes;

  KOKKOS_FUNCTION void operator()(const std::int64_t i, double& largest) const {
    const double difference = static_cast<double>(y[i]) - reference[i];
    const double error = (difference < 0 ? -difference : difference) / magnitudes[i];
    // NaN counts as infinite.
    if (!(error <= largest)) largest = error == error ? error : HUGE_VAL;
  }
};

class Reference {
 public:
  Reference(std::int64_t m, std::int64_t n)
      : values_("reference", m, n), magnitudes_("sums", m, n) {
    if (cublasCreate(&handle_) != CUBLAS_STATUS_SUCCESS) std::exit(1);
  }

  void compute(const FloatMatrix& x, const FloatMatrix& w) {
    for (const bool of_magnitudes : {false, true})
      multiply(widen(x, of_magnitudes), widen(w, of_magnitudes),
               of_magnitudes ? magnitudes_ : values_);
  }

  double largest_error(const FloatMatrix& y) const {
    double largest = 0;
    Kokkos::parallel_reduce("largest error",
                            Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
                                0, static_cast<std::int64_t>(y.size())),
                            LargestError{y.data(), values_.data(), magnitudes_.data()},
                            Kokkos::Max<double>(largest));
    return largest;
  }

 private:
  static DoubleMatrix widen(const FloatMatrix& matrix, bool of_magnitudes) {
    DoubleMatrix wide(Kokkos::view_alloc(Kokkos::WithoutInitializing, "wide"), matrix.extent(0),
                      matrix.extent(1));
    for_each(static_cast<std::int64_t>(matrix.size()),
             Widen{matrix.data(), wide.data(), of_magnitudes});
    return wide;
  }

  void multiply(const DoubleMatrix& x, const DoubleMatrix& w, const DoubleMatrix& y) const {
    const auto size = [](const DoubleMatrix& matrix, int dimension) {
      return static_cast<int>(matrix.extent(dimension));
    };
    const double one = 1;
    const double zero = 0;
    Kokkos::fence();
    // Column-major, the memory of y is w x^T.
    if (cublasDgemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, size(w, 0), size(x, 0), size(x, 1), &one,
                    w.data(), size(w, 1), x.data(), size(x, 1), &zero, y.data(),
                    size(w, 0)) != CUBLAS_STATUS_SUCCESS)
      std::exit(1);
    if (cudaDeviceSynchronize() != cudaSuccess) std::exit(1);
  }

  cublasHandle_t handle_ = nullptr;
  DoubleMatrix values_;
  DoubleMatrix magnitudes_;
};

FloatMatrix product(const Tensor& x, const Tensor& w, ComputeMode compute,
                    const char* engine = "") {
  const Space space;
  PlanOptions options;
  options.layout = ResultLayout::any;  // y comes out in float32, whatever x's dtype
  options.engine = engine;
  const Plan plan(space, {x, w, compute}, "y", {}, options);
  const FloatMatrix y = make_matrix(x.extent[0], w.extent[0]);
  Kokkos::deep_copy(y, NAN);
  plan.execute(Arguments{x, w, {}, {as_tensor(y)}});
  Kokkos::fence();
  return y;
}

double error_of(Reference& reference, DataType dtype, const FloatMatrix& x, const FloatMatrix& w) {
  const Rounded small_x = round_to(dtype, x);
  const Rounded small_w = round_to(dtype, w);
  Kokkos::fence();
  reference.compute(small_x.same, small_w.same);
  return reference.largest_error(product(small_tensor(small_x.small, dtype),
                                         small_tensor(small_w.small, dtype),
                                         ComputeMode::automatic));
}

void run(std::int64_t m, std::int64_t n, std::int64_t largest_k) {
  std::printf(
      "Largest |error| / (|x| |w|^T), M = %lld, N = %lld. float16 and bfloat16: of the rounded "
      "inputs; log-normal data overflow float16.\n\n",
      static_cast<long long>(m), static_cast<long long>(n));
  std::printf(
      "| data | K | f32, strict | f32, hopper | ratio | f32_emulated_f16x3, split | ratio | "
      "f32_fast_tf32 | f16 | bf16 |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Kind& kind : kinds)
    for (const std::int64_t k : {1, 16, 128, 1024, 4096, 16384, 65536}) {
      if (k > largest_k) continue;
      const FloatMatrix x = make_matrix(m, k);
      const FloatMatrix w = make_matrix(n, k);
      for_each(m * k, Fill{x.data(), k, kind.data, false});
      for_each(n * k, Fill{w.data(), k, kind.data, true});
      Kokkos::fence();
      Reference reference(m, n);
      reference.compute(x, w);
      const auto error = [&](ComputeMode compute, const char* engine) {
        return reference.largest_error(product(as_tensor(x), as_tensor(w), compute, engine));
      };
      const double strict = error(ComputeMode::f32, "cublaslt");
      // Other engines refuse what would not be as exact, or are not there.
      double promoted = NAN;
      try {
        promoted = error(ComputeMode::f32, "hopper");
      } catch (const Error&) {
      }
      // Small products would be computed in strict float32.
      const double emulated = error(ComputeMode::f32_emulated_f16x3, "split");
      const double tf32 = error(ComputeMode::f32_fast_tf32, "cublaslt");
      const double f16 = error_of(reference, DataType::float16, x, w);
      const double bf16 = error_of(reference, DataType::bfloat16, x, w);
      std::printf("| %s | %lld | %.1e | %.1e | %.1f | %.1e | %.1f | %.1e | %.1e | %.1e |\n",
                  kind.name, static_cast<long long>(k), strict, promoted, promoted / strict,
                  emulated, emulated / strict, tf32, f16, bf16);
    }
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  const long largest_k = argc > 1 ? std::atol(argv[1]) : 65536;
  if (largest_k < 1) {
    std::fprintf(stderr, "usage: %s [largest K]\n", argv[0]);
    return 2;
  }
  run(128, 1024, largest_k);
  return 0;
}
