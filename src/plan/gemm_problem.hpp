#ifndef POSTLUDE_PLAN_GEMM_PROBLEM_HPP
#define POSTLUDE_PLAN_GEMM_PROBLEM_HPP

#include <cstdint>

#include <postlude/backend.hpp>
#include <postlude/data_type.hpp>
#include <postlude/problem.hpp>

namespace postlude {
namespace detail {

/// Whether a backend computes on the host's processor, in its memory.
inline bool is_host(Backend backend) {
  return backend == Backend::serial || backend == Backend::openmp || backend == Backend::threads;
}

/// Strides, in elements, of a batch of matrices.
struct MatrixStrides {
  std::int64_t batch = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// What an engine is asked to compute: y[b,m,n] = sum_k x[b,m,k] * w[b,n,k].
struct GemmProblem {
  Backend backend = Backend::serial;
  DataType dtype = DataType::float32;
  /// As the caller wants it; automatic for float16 and bfloat16 only.
  ComputeMode compute = ComputeMode::f32;
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  MatrixStrides x;
  MatrixStrides w;
  MatrixStrides y;
  /// Not y is wanted in its place, but a product and factors for its rows and columns.
  bool has_factors = false;
  /// A stage on all of y follows, for which kernels may be made: an engine that runs it on its own
  /// sums spares a sweep.
  bool precedes_stage = false;
  /// A part of y's columns: what is worth it for all of them is so for each part.
  bool is_part = false;
};

/// Whether there is nothing to multiply: no y, or one of empty sums.
inline bool is_trivial(const GemmProblem& problem) {
  return problem.batch == 0 || problem.m == 0 || problem.n == 0 || problem.k == 0;
}

}  // namespace detail
}  // namespace postlude

#endif
