#include "execute/weight_facts.hpp"

#include "compat/with_instance.hpp"
#include "execute/binding.hpp"
#include "execute/enqueue_pass.hpp"
#include "execute/matrix_pass.hpp"

namespace postlude {
namespace detail {

Shape weight_shape(const GemmProblem& gemm) {
  return {gemm.w.batch == 0 ? 1 : gemm.batch, gemm.n, gemm.k};
}

WeightFacts::WeightFacts(const ExecutionSpace& space, const GemmProblem& gemm, bool wants_sums)
    : gemm_(gemm),
      wants_sums_(wants_sums),
      largest_(space, static_cast<std::size_t>(most_magnitudes) * sizeof(double)) {
  const Shape shape = weight_shape(gemm);
  if (wants_sums)
    sums_ = BackendBuffer(space,
                          static_cast<std::size_t>(shape.batch * shape.columns) * sizeof(double));
}

void WeightFacts::refresh(const ExecutionSpace& space, const Tensor& w) {
  magnitudes_ = Magnitudes();
  const Shape shape = weight_shape(gemm_);
  const MatrixStrides strides = strides_of(w, {});
  if (shape.batch < gemm_.batch && strides.batch != 0) return;
  MatrixPass pass = matrix_pass(gemm_.backend, gemm_.dtype, shape, strides, wants_sums_ ? 0 : -1);
  pass.matrix.data = w.data;
  pass.magnitudes = static_cast<double*>(largest_.data());
  const BackendBuffer partials(space, pass.cut.chunks > 1 ? partials_bytes(pass) : 0);
  auto* const sums = static_cast<double*>(sums_.data());
  pass.partials = pass.cut.chunks > 1 ? static_cast<double*>(partials.data()) : sums;
  enqueue_pass(space, pass);
  if (wants_sums_ && pass.cut.chunks > 1) enqueue_sums(space, sums_after(pass, sums));
  magnitudes_ = {pass.magnitudes, pass.cut.workers};
  with_instance(space, [](const auto& instance) { instance.fence(); });
}

}  // namespace detail
}  // namespace postlude
