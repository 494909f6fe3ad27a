#ifndef POSTLUDE_EXECUTE_WEIGHT_FACTS_HPP
#define POSTLUDE_EXECUTE_WEIGHT_FACTS_HPP

#include <cstddef>
#include <optional>

#include <postlude/execution_space.hpp>
#include <postlude/tensor.hpp>

#include "execute/memory.hpp"
#include "execute/tensor_program.hpp"
#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// What guarded plans ask of w, found once for prepared weights: its largest magnitude, and the
/// sums over its rows where they are wanted. On hosts only.
class WeightFacts {
 public:
  /// For w as `w` describes it; nothing is known before refresh().
  WeightFacts(const ExecutionSpace& space, const GemmProblem& gemm, const Tensor& w,
              bool wants_sums);

  void refresh(const ExecutionSpace& space, const Tensor& w);

  double largest() const { return largest_; }
  /// float64, batch x K; null when they were not wanted.
  double* sums() const { return sums_program_ ? static_cast<double*>(sums_.data()) : nullptr; }
  std::size_t bytes() const { return sums_.bytes(); }

 private:
  TensorProgram largest_program_;
  std::optional<TensorProgram> sums_program_;
  std::int64_t batch_;
  double largest_;
  BackendBuffer sums_;
};

/// The shape of w as a batch of matrices: one matrix where the batch shares it.
Shape weight_shape(const GemmProblem& gemm);

/// The largest of some magnitudes, NaN if one is NaN.
double largest_of(const double* magnitudes, std::int64_t count);

}  // namespace detail
}  // namespace postlude

#endif
