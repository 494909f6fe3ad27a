#ifndef POSTLUDE_EXECUTE_WEIGHT_FACTS_HPP
#define POSTLUDE_EXECUTE_WEIGHT_FACTS_HPP

#include <cstddef>

#include <postlude/execution_space.hpp>
#include <postlude/tensor.hpp>

#include "execute/guard_condition.hpp"
#include "execute/memory.hpp"
#include "plan/gemm_problem.hpp"
#include "program/program.hpp"

namespace postlude {
namespace detail {

/// What guarded plans ask of w, found once for prepared weights: its largest magnitudes, and the
/// sums over its rows where they are wanted. In the backend's memory.
class WeightFacts {
 public:
  /// For w of this problem; nothing is known before refresh().
  WeightFacts(const ExecutionSpace& space, const GemmProblem& gemm, bool wants_sums);

  /// Complete on return.
  void refresh(const ExecutionSpace& space, const Tensor& w);

  /// Not where the last refresh was from matrices of which the problem has one.
  bool is_known() const { return magnitudes_.count > 0; }
  const Magnitudes& magnitudes() const { return magnitudes_; }
  /// float64, batch x K; null when they were not wanted.
  const double* sums() const { return wants_sums_ ? static_cast<double*>(sums_.data()) : nullptr; }
  std::size_t bytes() const { return largest_.bytes() + sums_.bytes(); }

 private:
  GemmProblem gemm_;
  bool wants_sums_;
  BackendBuffer largest_;
  BackendBuffer sums_;
  Magnitudes magnitudes_;
};

/// The shape of w as a batch of matrices: one matrix where the batch shares it.
Shape weight_shape(const GemmProblem& gemm);

}  // namespace detail
}  // namespace postlude

#endif
