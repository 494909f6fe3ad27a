#include "weights.hpp"

#include <postlude/error.hpp>

#include "convert.hpp"
#include "guard.hpp"
#include "plan.hpp"
#include "structs.hpp"

namespace postlude {
namespace detail {
namespace capi {

WeightsState::~WeightsState() {
  try {
    context_->device->synchronize();
  } catch (...) {
    // A failed device has no work left that could be waited for.
  }
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
      postlude::PreparedWeights prepared(device.space(nullptr, "stream"), plan_state->plan(),
                                         tensor);
      *weights =
          new postlude_weights(std::make_shared<WeightsState>(context_state, std::move(prepared)));
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
    device.run([&] { state->weights().refresh(device.space(stream, "stream"), tensor); });
  });
}

postlude_status postlude_weights_destroy(postlude_weights* weights) {
  return guard([&] { destroy_handle<WeightsState>(weights); });
}
