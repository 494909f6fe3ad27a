#include "weights.hpp"

#include <postlude/error.hpp>

#include <utility>

#include "convert.hpp"
#include "guard.hpp"
#include "plan.hpp"
#include "structs.hpp"

namespace postlude {
namespace detail {
namespace capi {

WeightsState::WeightsState(std::shared_ptr<ContextState> context, const Plan& plan, const Tensor& w)
    : context_(std::move(context)) {
  weights_.emplace(context_->device->space(nullptr, "stream"), plan, stage(w));
  if (weights_->bytes() > 0) staged_.reset();
}

WeightsState::~WeightsState() { finish_work(*context_->device); }

Tensor WeightsState::stage(const Tensor& w) {
  if (!context_->stages_host_memory) return w;
  Arguments only_w;
  only_w.w = w;
  staged_.reset();
  staged_ = std::make_unique<Staging>(*context_->device, only_w);
  staged_->copy_in();
  host_ = w;
  return staged_->arguments().w;
}

void WeightsState::refresh(const ExecutionSpace& space, const Tensor& w) {
  weights_->refresh(space, stage(w));
  if (weights_->bytes() > 0) staged_.reset();
}

Tensor WeightsState::bound(const Tensor& w) const {
  const bool is_host = w.memory_space == MemorySpace::host || w.data == nullptr;
  if (!context_->stages_host_memory || !is_host) return w;
  Tensor bound = w;
  // Its copy on the device could lie where that of the prepared tensor was.
  if (w.data != nullptr && w.data != host_.data)
    throw Error(
        Status::invalid_argument,
        "bindings.w is not the tensor that bindings.weights were prepared from, which makes "
        "them stale: refresh them, or leave its data null");
  bound.data = staged_ == nullptr ? nullptr : staged_->arguments().w.data;
  bound.memory_space = MemorySpace::device;
  return bound;
}

namespace {

Tensor to_weights_tensor(const postlude_tensor* w) {
  require_pointer(w, "w", "the tensor to prepare");
  return to_tensor(*w, "w");
}

}  // namespace
}  // namespace capi
}  // namespace detail
}  // namespace postlude

using namespace postlude::detail::capi;

postlude_status postlude_weights_create(postlude_context* context, const postlude_plan* plan,
                                        const postlude_tensor* w, postlude_weights** weights) {
  return guard([&] {
    require_pointer(weights, "weights", "a place for the handle");
    *weights = nullptr;
    const auto& context_state = state_of(context);
    const auto& plan_state = state_of(plan);
    if (plan_state->context() != context_state)
      throw postlude::Error(postlude::Status::invalid_argument,
                            "plan was made in another context: expected one of this context");
    const postlude::Tensor tensor = to_weights_tensor(w);
    Device& device = *context_state->device;
    device.synchronize();
    device.run([&] {
      *weights = new postlude_weights(
          std::make_shared<WeightsState>(context_state, plan_state->plan(), tensor));
    });
  });
}

postlude_status postlude_weights_size(const postlude_weights* weights, size_t* bytes) {
  return guard([&] {
    const auto& state = state_of(weights);
    require_pointer(bytes, "bytes", "a place for the answer");
    *bytes = state->weights().bytes();
  });
}

postlude_status postlude_weights_refresh(postlude_weights* weights, const postlude_tensor* w,
                                         void* stream) {
  return guard([&] {
    const auto& state = state_of(weights);
    const postlude::Tensor tensor = to_weights_tensor(w);
    Device& device = *state->context()->device;
    device.run([&] { state->refresh(device.space(stream, "stream"), tensor); });
  });
}

postlude_status postlude_weights_destroy(postlude_weights* weights) {
  return guard([&] { destroy_handle<WeightsState>(weights); });
}
