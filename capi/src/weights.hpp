#ifndef POSTLUDE_CAPI_WEIGHTS_HPP
#define POSTLUDE_CAPI_WEIGHTS_HPP

#include <postlude.h>

#include <postlude/prepared_weights.hpp>

#include <cstdint>
#include <memory>
#include <optional>

#include "context.hpp"
#include "handle.hpp"
#include "staging.hpp"

namespace postlude {
namespace detail {
namespace capi {

/// What a weights handle stands for.
class WeightsState {
 public:
  static constexpr const char* handle_name = "weights";
  static constexpr const char* handle_source = "postlude_weights_create";
  static constexpr std::uint64_t handle_mark = 0x706f73746c776774;

  /// Prepares `w` for `plan`; the device is the current one.
  WeightsState(std::shared_ptr<ContextState> context, const Plan& plan, const Tensor& w);
  /// Waits for work that may still use the weights.
  ~WeightsState();

  const std::shared_ptr<ContextState>& context() const { return context_; }
  const PreparedWeights& weights() const { return *weights_; }

  void refresh(const ExecutionSpace& space, const Tensor& w);

  /// What stands for bindings.w in an execution with these weights: host memory that was staged is
  /// replaced by its copy on the device, or by nothing where the engine has w in a format of its
  /// own.
  Tensor bound(const Tensor& w) const;

 private:
  /// w itself, or its copy on the device.
  Tensor stage(const Tensor& w);

  std::shared_ptr<ContextState> context_;
  std::optional<PreparedWeights> weights_;
  Tensor host_;                      ///< what was staged last
  std::unique_ptr<Staging> staged_;  ///< kept where the engine uses w as it is
};

}  // namespace capi
}  // namespace detail
}  // namespace postlude

struct postlude_weights : postlude::detail::capi::Handle<postlude::detail::capi::WeightsState> {
  using Handle::Handle;
};

#endif
