#ifndef POSTLUDE_PROBLEM_HPP
#define POSTLUDE_PROBLEM_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <postlude/expression.hpp>
#include <postlude/tensor.hpp>

namespace postlude {

/// How the linear layer is computed. The values equal those of `postlude_compute_mode` in C.
///
/// Since: 0.1.
enum class ComputeMode : std::int32_t {
  /// f64 for float64 and f32 for float32. Products of float16 or bfloat16 are exact and summed in
  /// float32, on tensor cores where the device has them.
  automatic = 0,
  f64 = 1,  ///< IEEE float64 throughout
  /// float32; of float16 and bfloat16 as well, which are converted. The largest error is at most
  /// twice that of a strict float32 GEMM on the same data, or 2^-24 sum |x||w|: see GUIDE.md. The
  /// engines `cublaslt` and `kokkos_kernels` are strict.
  f32 = 2,
  /// Of float32: three products of float16 parts on tensor cores. Keeps 22 bits of every element
  /// and float32's range; long sums drift more than strict float32's. CUDA only.
  f32_emulated_f16x3 = 3,
  /// Of float32: products of TF32, which keeps 11 bits of every element. CUDA only.
  f32_fast_tf32 = 4
};

/// The name of a mode, for example "f32_fast_tf32"; "?" for a value that is not one. Since: 0.1.
constexpr const char* name_of(ComputeMode mode) noexcept {
  switch (mode) {
    case ComputeMode::automatic:
      return "automatic";
    case ComputeMode::f64:
      return "f64";
    case ComputeMode::f32:
      return "f32";
    case ComputeMode::f32_emulated_f16x3:
      return "f32_emulated_f16x3";
    case ComputeMode::f32_fast_tf32:
      return "f32_fast_tf32";
  }
  return "?";
}

/// The linear layer y[m,n] = sum_k x[m,k] * w[n,k] that a plan is made for.
///
/// x is batch x in_features (M x K), w is out_features x in_features (N x K), both with any
/// strides, of one dtype. With a leading batch dimension x is B x M x K and w is B x N x K or
/// N x K. Only dtype, extents and strides are used; data pointers are given at execution.
///
/// Since: 0.1.
struct LinearProblem {
  Tensor x;                                      ///< M x K
  Tensor w;                                      ///< N x K
  ComputeMode compute = ComputeMode::automatic;  ///< how
};

/// Order of the elements of the results in memory. Since: 0.1.
///
/// With row_major and column_major a plan may keep y in the memory of a result of y's shape and
/// finish it there; that result must then have the stated layout, any leading dimension, and the
/// dtype of the problem. `any` keeps y in the workspace and takes results of any strides and dtype.
enum class ResultLayout : std::int32_t {
  row_major = 1,     ///< the elements of a row are contiguous (LayoutRight, C)
  column_major = 2,  ///< the elements of a column are contiguous (LayoutLeft, Fortran, Julia)
  any = 3
};

/// Whether the stages of a plan are compiled for the program when the plan is made, where the
/// backend can do that (CUDA with NVRTC). Otherwise they are interpreted, which on a GPU takes
/// longer to run and nothing to prepare. The values equal those of `postlude_compilation` in C.
///
/// Since: 0.1.
enum class StageCompilation : std::int32_t {
  automatic = 0,  ///< stages over a million elements and more; once per process for equal stages
  never = 1,      ///< all are interpreted
  always = 2      ///< every stage, or an Error(unsupported) where that is not possible
};

/// Choices of a plan. Since: 0.1.
struct PlanOptions {
  /// Layout that the results will have.
  ResultLayout layout = ResultLayout::row_major;
  /// Name of the GEMM engine to use, "" to let the plan choose.
  std::string engine;
  /// Whether stages are compiled when the plan is made.
  StageCompilation compilation = StageCompilation::automatic;
  /// Whether the algorithms that a vendor's library proposes for the GEMM are run once to find the
  /// fastest; otherwise the library's own heuristic chooses. Making the plan then takes tens of
  /// executions of the GEMM, waits for the device, and needs memory for another x, w and y. Without
  /// effect where there is nothing to choose from (engine kokkos_kernels).
  bool autotune = false;
  /// What an earlier plan for the same problem gave as Plan::gemm_choice(), whose engine and
  /// algorithm this one then takes; "" to choose anew. It holds for one version of the vendor's
  /// library and one kind of device: for others, or another problem, the constructor throws
  /// Error(invalid_argument).
  std::string gemm_choice;
  /// Names of rewrites of the program that are left out, or "all"; Plan::explain() names those that
  /// were applied, GUIDE.md has all. For another name the constructor throws Error(unknown_name).
  std::vector<std::string> without_rewrites;
};

}  // namespace postlude

#endif
