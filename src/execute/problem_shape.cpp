#include "execute/problem_shape.hpp"

#include <cstdint>
#include <string>

#include <postlude/error.hpp>

#include "execute/binding.hpp"

namespace postlude {
namespace detail {
namespace {

/// a * b, or -1 when it does not fit in 62 bits; both not negative.
std::int64_t product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t limit = std::int64_t(1) << 62;
  if (a < 0 || b < 0) return -1;
  return a != 0 && b > limit / a ? -1 : a * b;
}

std::int64_t magnitude(std::int64_t value) { return value < 0 ? -value : value; }

void require_dtype(const Tensor& tensor, const std::string& name) {
  if (size_of(tensor.dtype) == 0)
    throw Error(Status::invalid_argument, name + " has dtype " +
                                              std::to_string(static_cast<int>(tensor.dtype)) +
                                              ": expected a DataType (1 to 5)");
}

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

std::string extents_text(const Tensor& tensor) {
  std::string text;
  for (int i = 0; i < tensor.rank && i < 3; ++i)
    text += (i == 0 ? "" : "x") + std::to_string(tensor.extent[i]);
  return text;
}

void require_valid_description(const Tensor& tensor, const std::string& name) {
  require_dtype(tensor, name);
  if (tensor.rank < 1 || tensor.rank > 3)
    throw Error(Status::invalid_argument,
                name + " has rank " + std::to_string(tensor.rank) + ": expected 1, 2 or 3");
  std::int64_t elements = 1;
  std::int64_t reach = 1;
  for (int i = 0; i < tensor.rank; ++i) {
    if (tensor.extent[i] < 0)
      throw Error(Status::invalid_argument,
                  name + " has extent " + std::to_string(tensor.extent[i]) + " in dimension " +
                      std::to_string(i) + ": expected 0 or more");
    elements = product(elements, tensor.extent[i]);
    // INT64_MIN has no magnitude.
    const bool has_magnitude = tensor.stride[i] != INT64_MIN;
    const std::int64_t span =
        has_magnitude ? product(tensor.extent[i], magnitude(tensor.stride[i])) : -1;
    reach = span < 0 || reach < 0 || reach > (std::int64_t(1) << 62) - span ? -1 : reach + span;
  }
  const auto element = static_cast<std::int64_t>(size_of(tensor.dtype));
  if (product(elements, element) < 0 || product(reach, element) < 0)
    throw Error(Status::invalid_argument, name + " has extents " + extents_text(tensor) +
                                              " and strides whose addresses overflow 62 bits");
}

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
  if (product(product(product(gemm.batch, gemm.m), gemm.n), 8) < 0)
    throw Error(Status::invalid_argument, "the result of x and w has more than 2^62 bytes");

  if (x.dtype == DataType::int64)
    throw Error(Status::unsupported, "x has dtype i64: expected f64, f32, f16 or bf16");
  gemm.compute = compute_mode(problem.compute, x.dtype);
  return gemm;
}

}  // namespace detail
}  // namespace postlude
