#include "execute/weight_facts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace postlude {
namespace detail {

Shape weight_shape(const GemmProblem& gemm) {
  return {gemm.w.batch == 0 ? 1 : gemm.batch, gemm.n, gemm.k};
}

double largest_of(const double* magnitudes, std::int64_t count) {
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i)
    if (magnitudes[i] > largest || std::isnan(magnitudes[i])) {
      largest = magnitudes[i];
      if (std::isnan(largest)) break;
    }
  return largest;
}

WeightFacts::WeightFacts(const ExecutionSpace& space, const GemmProblem& gemm, const Tensor& w,
                         bool wants_sums)
    : largest_program_(largest_magnitude(space.backend(), gemm.dtype, weight_shape(gemm),
                                         weight_shape(gemm).batch > 1, w)),
      batch_(weight_shape(gemm).batch),
      largest_(std::numeric_limits<double>::quiet_NaN()) {
  if (!wants_sums) return;
  sums_program_.emplace(space.backend(), gemm.dtype, "sum(v, dim=0)", weight_shape(gemm),
                        batch_ > 1, w);
  sums_ = BackendBuffer(space, static_cast<std::size_t>(batch_ * gemm.k) * sizeof(double));
}

void WeightFacts::refresh(const ExecutionSpace& space, const Tensor& w) {
  std::size_t bytes = largest_program_.workspace_bytes();
  if (sums_program_) bytes = std::max(bytes, sums_program_->workspace_bytes());
  const BackendBuffer workspace(space, bytes);
  auto* scratch = static_cast<char*>(workspace.data());
  std::vector<double> magnitudes(static_cast<std::size_t>(batch_));
  largest_program_.run(space, {w}, {magnitudes.data()}, scratch);
  largest_ = largest_of(magnitudes.data(), batch_);
  if (sums_program_) sums_program_->run(space, {w}, {sums()}, scratch);
}

}  // namespace detail
}  // namespace postlude
