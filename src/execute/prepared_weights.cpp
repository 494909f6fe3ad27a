#include <postlude/prepared_weights.hpp>

#include <string>

#include <postlude/error.hpp>

#include "compat/kokkos.hpp"
#include "execute/binding.hpp"
#include "execute/prepared_weights_implementation.hpp"
#include "execute/problem_shape.hpp"
#include "execute/tensor_checks.hpp"

namespace postlude {
namespace detail {
namespace {

void require_kokkos() {
  if (!compat::is_kokkos_running())
    throw Error(Status::not_initialized,
                "Kokkos is not initialised, or was finalised: expected a running Kokkos");
}

const std::string& engine_of(const PlanImplementation& plan) {
  return plan.plan().engines[plan.plan().chosen_engine].name;
}

bool same_extents(const Tensor& a, const Tensor& b) {
  bool same = a.dtype == b.dtype && a.rank == b.rank;
  for (int i = 0; same && i < a.rank; ++i) same = a.extent[i] == b.extent[i];
  return same;
}

bool same_strides(const Tensor& a, const Tensor& b) {
  for (int i = 0; i < a.rank; ++i)
    if (a.extent[i] > 1 && a.stride[i] != b.stride[i]) return false;
  return true;
}

std::string text_of(const Tensor& tensor) {
  return std::string(name_of(tensor.dtype)) + " " + extents_text(tensor);
}

}  // namespace

PreparedWeightsImplementation::PreparedWeightsImplementation(const ExecutionSpace& space,
                                                             const PlanImplementation& plan,
                                                             const Tensor& w)
    : backend_(space.backend()), engine_(engine_of(plan)), w_(plan.problem().w) {
  require_kokkos();
  if (space.backend() != plan.space().backend())
    throw Error(Status::invalid_argument,
                std::string("space is an instance of backend ") + name_of(space.backend()) +
                    ": the plan was made for " + name_of(plan.space().backend()));
  require_usable(space, w);
  weights_ = plan.gemm().make_weights(space, plan.plan().gemm);
  refresh(space, w);
}

void PreparedWeightsImplementation::require_usable(const ExecutionSpace& space,
                                                   const Tensor& w) const {
  require_valid_description(w, "w");
  if (!same_extents(w, w_))
    throw Error(Status::shape_mismatch,
                "w is " + text_of(w) + ": the weights are prepared for " + text_of(w_));
  detail::require_usable(w, "w", space.backend());
}

void PreparedWeightsImplementation::refresh(const ExecutionSpace& space, const Tensor& w) {
  require_kokkos();
  if (space.backend() != backend_)
    throw Error(Status::invalid_argument,
                std::string("space is an instance of backend ") + name_of(space.backend()) +
                    ": the weights were prepared on " + name_of(backend_));
  require_usable(space, w);
  is_ready_ = false;
  if (weights_ != nullptr) weights_->refresh(space, w.data, strides_of(w, {}));
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
  if (engine_of(plan) != engine_)
    throw Error(Status::invalid_argument, "prepared_weights were prepared for the engine " +
                                              engine_ + ": the plan uses " + engine_of(plan));
  if (!same_extents(plan.problem().w, w_))
    throw Error(Status::shape_mismatch, "prepared_weights were prepared from " + text_of(w_) +
                                            ": the plan was made for " + text_of(plan.problem().w));
  if (weights_ != nullptr && !plan.gemm().takes(*weights_, plan.plan().gemm))
    throw Error(Status::invalid_argument,
                "prepared_weights are on another device than the plan: prepare them there");
  if (w.data != nullptr && (w.data != w_.data || !same_strides(w, w_)))
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
