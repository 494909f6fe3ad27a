#include "gemm/split_gemm.hpp"

#include <algorithm>
#include <utility>

#include "gemm/cublaslt_tuning.hpp"
#include "gemm/cuda_status.hpp"
#include "gemm/split_layout.hpp"

namespace postlude {
namespace detail {
namespace {

/// Only a product that is read in its place is column-major.
bool is_column_major(const GemmProblem& problem) {
  return problem.has_factors && problem.y.row == 1 && problem.y.column != 1;
}

/// Of the product: lines begin on 16 bytes.
std::int64_t leading_dimension_of(const GemmProblem& problem) {
  if (problem.has_factors) return is_column_major(problem) ? problem.y.column : problem.y.row;
  return (problem.n + 3) / 4 * 4;
}

/// Rows of the product for each row of y.
std::int64_t product_rows(SplitScheme scheme) { return scheme == SplitScheme::stacked ? 2 : 1; }

/// Row-major y, whose memory is y^T = w x^T column-major, or column-major y = x w^T itself.
MatmulShape product_shape(const GemmProblem& problem, std::int64_t rows, std::int64_t depth,
                          std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t w_stride = 2 * padded_k(problem.k);
  MatmulShape shape;
  shape.factor_type = CUDA_R_16F;
  shape.a = {depth, problem.n, w_stride, 0, true};
  shape.b = {depth, rows, x_stride, 0, false};
  shape.d = {problem.n, rows, y_stride, 0, false};
  if (is_column_major(problem)) {
    std::swap(shape.a, shape.b);
    std::swap(shape.a.transpose, shape.b.transpose);
    std::swap(shape.d.rows, shape.d.columns);
  }
  return shape;
}

MatmulShape first_shape(const GemmProblem& problem, SplitScheme scheme) {
  const std::int64_t k = padded_k(problem.k);
  const std::int64_t y = leading_dimension_of(problem);
  if (scheme == SplitScheme::stacked) return product_shape(problem, 2 * problem.m, k, k, y);
  return product_shape(problem, problem.m, 2 * k, 2 * k, y);
}

MatmulShape second_shape(const GemmProblem& problem, SplitScheme scheme) {
  const std::int64_t k = padded_k(problem.k);
  return product_shape(problem, problem.m, k, 2 * k,
                       leading_dimension_of(problem) * product_rows(scheme));
}

}  // namespace

SplitScheme split_scheme(std::int64_t rows) {
  return rows <= 256 ? SplitScheme::stacked : SplitScheme::side_by_side;
}

SplitGemm::Product::Product(int device, const MatmulShape& shape, const char* name,
                            const KeptAlgorithms& kept, bool is_timed)
    : matmul(device, shape) {
  const auto settled = settle_algorithm(device, matmul, shape, MatmulAlignment(),
                                        most_matmul_workspace, name, kept, is_timed);
  is_possible = settled.has_value();
  if (is_possible) algorithm = *settled;
}

SplitGemm::SplitGemm(int device, const GemmProblem& problem, SplitScheme scheme,
                     const AlgorithmChoice& choice)
    : SplitGemm(device, problem, scheme,
                choice.kept.empty() ? KeptAlgorithms(device) : KeptAlgorithms(device, choice.kept),
                choice.is_timed) {}

SplitGemm::SplitGemm(int device, const GemmProblem& problem, SplitScheme scheme,
                     const KeptAlgorithms& kept, bool is_timed)
    : is_transposed_(is_column_major(problem)),
      leading_dimension_(leading_dimension_of(problem)),
      scheme_(scheme),
      first_(device, first_shape(problem, scheme), "first", kept, is_timed),
      second_(device, second_shape(problem, scheme), "second", kept, is_timed) {
  if (!first_.is_possible || !second_.is_possible)
    refusal_ = "cuBLASLt has no algorithm for the products of the float16 parts";
  KeptAlgorithms settled(device);
  if (first_.is_possible) settled.add("first", first_.algorithm.algo);
  if (second_.is_possible) settled.add("second", second_.algorithm.algo);
  algorithms_ = settled.text();
  x_bytes_ = split_matrix_bytes(problem.m, problem.k);
  if (!problem.has_factors)
    product_bytes_ = aligned_bytes(static_cast<std::size_t>(problem.m * product_rows(scheme)) *
                                   static_cast<std::size_t>(leading_dimension_) * sizeof(float));
  extrema_bytes_ = std::max(splitting_bytes(problem.m, problem.k, problem.x.column),
                            splitting_bytes(problem.n, problem.k, problem.w.column));
  vendor_bytes_ =
      aligned_bytes(std::max(first_.algorithm.workspaceSize, second_.algorithm.workspaceSize));
  weights_bytes_ = split_matrix_bytes(problem.n, problem.k);
  workspace_bytes_ = x_bytes_ + product_bytes_ + extrema_bytes_ + vendor_bytes_ + weights_bytes_;
}

void SplitGemm::multiply(const SplitMatrix& x, const SplitMatrix& w, float* product,
                         void* workspace, cudaStream_t stream) const {
  const std::size_t part = static_cast<std::size_t>(x.padded_k) * bytes_of_part;
  const char* const w_low = static_cast<const char*>(w.parts);
  const char* const w_high = w_low + part;
  const float low_factor = 1.0f / (1 << low_part_exponent);
  const auto run = [&](const Product& each, float alpha, const void* a, float beta) {
    const void* const first = is_transposed_ ? x.parts : a;
    const void* const second = is_transposed_ ? a : x.parts;
    each.matmul.run(stream, each.algorithm.algo, alpha, first, second, beta, product, workspace,
                    vendor_bytes_);
  };
  if (scheme_ == SplitScheme::stacked) {
    run(first_, 1, w_high, 0);
    run(second_, low_factor, w_low, 1);
  } else {
    run(first_, low_factor, w_low, 0);
    run(second_, 1, w_high, 1);
  }
}

void SplitGemm::run(const GemmProblem& problem, const float* x, const float* w,
                    const SplitWeights* weights, float* y, void* workspace, cudaStream_t stream,
                    float* row_factors, float* column_factors) const {
  char* place = static_cast<char*>(workspace);
  const auto take = [&](std::size_t bytes) {
    char* const taken = place;
    place += bytes;
    return taken;
  };
  const SplitMatrix split_x = split_matrix_at(take(x_bytes_), problem.m, problem.k, false);
  auto* const own_product = reinterpret_cast<float*>(take(product_bytes_));
  auto* const extrema = reinterpret_cast<RowExtrema*>(take(extrema_bytes_));
  void* const vendor = take(vendor_bytes_);

  for (std::int64_t batch = 0; batch < problem.batch; ++batch) {
    const SplitSource source_x{x + batch * problem.x.batch, problem.m, problem.k, problem.x.row,
                               problem.x.column};
    const SplitSource source_w{weights == nullptr ? w + batch * problem.w.batch : nullptr,
                               problem.n, problem.k, problem.w.row, problem.w.column};
    // Without prepared weights the place after everything else is theirs.
    const SplitMatrix split_w = weights != nullptr
                                    ? weights->matrix(batch)
                                    : split_matrix_at(place, problem.n, problem.k, true);
    if (weights == nullptr && (batch == 0 || problem.w.batch != 0))
      split_matrix(source_w, split_w, extrema, stream);
    split_matrix(source_x, split_x, extrema, stream);
    float* const product = problem.has_factors ? y + batch * problem.y.batch : own_product;
    multiply(split_x, split_w, product, vendor, stream);

    const SplitFactor of_x{source_x, split_x.scales, nullptr, split_x.states};
    const SplitFactor of_w{
        source_w,         split_w.scales, weights != nullptr ? weights->kept_rows() : nullptr,
        split_w.states,   split_w.parts,  split_w.padded_k,
        split_w.low_first};
    if (problem.has_factors) {
      float* const of_rows = row_factors + batch * problem.m;
      float* const of_columns = column_factors + batch * problem.n;
      if (is_transposed_)
        settle_product(of_w, of_x, {product, leading_dimension_, of_columns, of_rows}, stream);
      else
        settle_product(of_x, of_w, {product, leading_dimension_, of_rows, of_columns}, stream);
      continue;
    }
    SplitResult result;
    result.m = problem.m;
    result.n = problem.n;
    result.product = product;
    result.leading_dimension = leading_dimension_;
    result.has_low_rows = scheme_ == SplitScheme::stacked;
    result.y = y + batch * problem.y.batch;
    result.y_row_stride = problem.y.row;
    result.y_column_stride = problem.y.column;
    finish_split(of_x, of_w, result, stream);
  }
}

}  // namespace detail
}  // namespace postlude
