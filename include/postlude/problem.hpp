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
  automatic = 0,  ///< the mode of x's dtype: f64 for float64, else f32
  f64 = 1,        ///< IEEE float64 throughout
  f32 = 2         ///< strict float32; of float16 and bfloat16 as well, which are converted
};

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
};

}  // namespace postlude

#endif
