#ifndef POSTLUDE_EXECUTE_PREPARED_WEIGHTS_IMPLEMENTATION_HPP
#define POSTLUDE_EXECUTE_PREPARED_WEIGHTS_IMPLEMENTATION_HPP

#include <cstddef>
#include <memory>
#include <string>

#include <postlude/execution_space.hpp>
#include <postlude/tensor.hpp>

#include "execute/plan_implementation.hpp"
#include "execute/weight_facts.hpp"
#include "gemm/engine.hpp"

namespace postlude {
namespace detail {

/// What stands behind PreparedWeights.
class PreparedWeightsImplementation {
 public:
  PreparedWeightsImplementation(const ExecutionSpace& space, const PlanImplementation& plan,
                                const Tensor& w);

  std::size_t bytes() const {
    return (weights_ == nullptr ? 0 : weights_->bytes()) +
           (facts_ == nullptr ? 0 : facts_->bytes());
  }
  void refresh(const ExecutionSpace& space, const Tensor& w);

  /// In the engine's format; null where the engine uses w as it is.
  const GemmWeights* weights() const { return weights_.get(); }
  /// For guarded plans; null where the plan that they were prepared for has none.
  const WeightFacts* facts() const { return facts_.get(); }

  /// Throws the Error that an execution of `plan` with these weights and this w would.
  void validate(const PlanImplementation& plan, const Tensor& w) const;

 private:
  void require_usable(const ExecutionSpace& space, const Tensor& w) const;

  Backend backend_;
  std::string engine_;
  std::unique_ptr<GemmWeights> weights_;
  std::unique_ptr<WeightFacts> facts_;
  Tensor w_;               ///< what they were prepared from
  bool is_ready_ = false;  ///< not after a refresh that failed
};

}  // namespace detail
}  // namespace postlude

#endif
