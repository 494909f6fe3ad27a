#include "execute/problem_shape.hpp"

#include <string>

#include <postlude/error.hpp>

#include "execute/binding.hpp"
#include "execute/tensor_checks.hpp"

namespace postlude {
namespace detail {
namespace {

/// The mode that a problem of this dtype is computed in: never automatic, but for float16 and
/// bfloat16, which engines may then sum on tensor cores.
ComputeMode compute_mode(ComputeMode wanted, DataType dtype) {
  if (wanted < ComputeMode::automatic || wanted > ComputeMode::f32_fast_tf32)
    throw Error(Status::invalid_argument, "compute is " + std::to_string(static_cast<int>(wanted)) +
                                              ": expected a ComputeMode (0 to 4)");
  if (wanted == ComputeMode::automatic) {
    if (dtype == DataType::float64) return ComputeMode::f64;
    return dtype == DataType::float32 ? ComputeMode::f32 : ComputeMode::automatic;
  }
  const bool takes_dtype = wanted == ComputeMode::f64   ? dtype == DataType::float64
                           : wanted == ComputeMode::f32 ? dtype != DataType::float64
                                                        : dtype == DataType::float32;
  if (!takes_dtype)
    throw Error(Status::unsupported, std::string("compute is ") + name_of(wanted) +
                                         ", but x has dtype " + name_of(dtype) +
                                         ": expected a mode of that dtype");
  return wanted;
}

}  // namespace

GemmProblem gemm_problem(Backend backend, const LinearProblem& problem) {
  const Tensor& x = problem.x;
  const Tensor& w = problem.w;
  require_valid_description(x, "x");
  require_valid_description(w, "w");
  if (x.rank < 2) throw Error(Status::shape_mismatch, "x has rank 1: expected batch x in_features");
  if (w.rank < 2)
    throw Error(Status::shape_mismatch, "w has rank 1: expected out_features x in_features");
  if (w.rank > x.rank)
    throw Error(Status::shape_mismatch,
                "w has a batch dimension, but x has none: expected 2 dimensions");
  if (x.dtype != w.dtype)
    throw Error(Status::invalid_argument, std::string("w has dtype ") + name_of(w.dtype) +
                                              ": expected that of x, " + name_of(x.dtype));
  const Shape x_shape = shape_of(x, {});
  const Shape w_shape = shape_of(w, {});
  if (x_shape.columns != w_shape.columns)
    throw Error(Status::shape_mismatch, "w has in_features " + std::to_string(w_shape.columns) +
                                            ": expected that of x, " +
                                            std::to_string(x_shape.columns));
  if (w.rank == 3 && w_shape.batch != x_shape.batch)
    throw Error(Status::shape_mismatch, "w has a batch of " + std::to_string(w_shape.batch) +
                                            " matrices: expected that of x, " +
                                            std::to_string(x_shape.batch));

  GemmProblem gemm;
  gemm.backend = backend;
  gemm.dtype = x.dtype;
  gemm.batch = x_shape.batch;
  gemm.m = x_shape.rows;
  gemm.n = w_shape.rows;
  gemm.k = x_shape.columns;
  gemm.x = strides_of(x, {});
  gemm.w = strides_of(w, {});
  if (checked_product(checked_product(checked_product(gemm.batch, gemm.m), gemm.n), 8) < 0)
    throw Error(Status::invalid_argument, "the result of x and w has more than 2^62 bytes");

  if (x.dtype == DataType::int64)
    throw Error(Status::unsupported, "x has dtype i64: expected f64, f32, f16 or bf16");
  gemm.compute = compute_mode(problem.compute, x.dtype);
  return gemm;
}

}  // namespace detail
}  // namespace postlude
