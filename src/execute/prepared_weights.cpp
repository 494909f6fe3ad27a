#include <postlude/prepared_weights.hpp>

#include <string>

#include <postlude/error.hpp>

#include "execute/binding.hpp"
#include "execute/prepared_weights_implementation.hpp"
#include "execute/space_checks.hpp"
#include "execute/tensor_checks.hpp"

namespace postlude {
namespace detail {
namespace {

const std::string& engine_of(const PlanImplementation& plan) {
  return plan.plan().engines[plan.plan().chosen_engine].name;
}

}  // namespace

PreparedWeightsImplementation::PreparedWeightsImplementation(const ExecutionSpace& space,
                                                             const PlanImplementation& plan,
                                                             const Tensor& w)
    : backend_(space.backend()), engine_(engine_of(plan)), w_(plan.problem().w) {
  require_kokkos();
  plan.require_backend(space);
  require_usable(space, w);
  weights_ = plan.gemm().make_weights(space, plan.plan().gemm);
  if (plan.guarded() != nullptr)
    facts_ =
        std::make_unique<WeightFacts>(space, plan.plan().gemm, plan.guarded()->wants_weight_sums());
  refresh(space, w);
}

void PreparedWeightsImplementation::require_usable(const ExecutionSpace& space,
                                                   const Tensor& w) const {
  require_valid_description(w, "w");
  if (!same_form(w, w_))
    throw Error(Status::shape_mismatch,
                "w is " + form_text(w) + ": the weights are prepared for " + form_text(w_));
  detail::require_usable(w, "w", space.backend());
}

void PreparedWeightsImplementation::refresh(const ExecutionSpace& space, const Tensor& w) {
  require_kokkos();
  require_backend(space, backend_, "the weights were prepared on");
  require_usable(space, w);
  is_ready_ = false;
  if (weights_ != nullptr) weights_->refresh(space, w.data, strides_of(w, {}));
  if (facts_ != nullptr) facts_->refresh(space, w);
  w_ = w;
  is_ready_ = true;
}

void PreparedWeightsImplementation::validate(const PlanImplementation& plan,
                                             const Tensor& w) const {
  if (!is_ready_)
    throw Error(Status::invalid_argument,
                "prepared_weights could not be refreshed the last time: refresh them again");
  if (plan.space().backend() != backend_)
    throw Error(Status::invalid_argument,
                std::string("prepared_weights were prepared on backend ") + name_of(backend_) +
                    ": the plan was made for " + name_of(plan.space().backend()));
  // Engines may have a format in common. One that does not know the format reads w.
  const bool is_taken = weights_ != nullptr && plan.gemm().takes(*weights_, plan.plan().gemm);
  const bool is_of_engine = engine_of(plan) == engine_;
  if (!is_of_engine && !is_taken && w.data == nullptr)
    throw Error(Status::invalid_argument, "prepared_weights were prepared for the engine " +
                                              engine_ + ": the plan uses " + engine_of(plan) +
                                              ", and w has null data");
  if (!same_form(plan.problem().w, w_))
    throw Error(Status::shape_mismatch, "prepared_weights were prepared from " + form_text(w_) +
                                            ": the plan was made for " +
                                            form_text(plan.problem().w));
  if (is_of_engine && weights_ != nullptr && !is_taken && !plan.gemm().can_do_without(*weights_))
    throw Error(Status::invalid_argument,
                "prepared_weights are on another device than the plan: prepare them there");
  if (w.data != nullptr && (w.data != w_.data || different_stride(w, w_) >= 0))
    throw Error(Status::invalid_argument,
                "w is not the tensor that prepared_weights were prepared from, which makes them "
                "stale: refresh them, or leave w's data null");
}

}  // namespace detail

PreparedWeights::PreparedWeights(const Plan& plan, const Tensor& w)
    : PreparedWeights(plan.implementation().space(), plan, w) {}

PreparedWeights::PreparedWeights(const ExecutionSpace& space, const Plan& plan, const Tensor& w)
    : implementation_(std::make_shared<detail::PreparedWeightsImplementation>(
          space, plan.implementation(), w)) {}

std::size_t PreparedWeights::bytes() const noexcept { return implementation_->bytes(); }

void PreparedWeights::refresh(const ExecutionSpace& space, const Tensor& w) {
  implementation_->refresh(space, w);
}

}  // namespace postlude
