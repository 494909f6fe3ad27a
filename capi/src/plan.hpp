#ifndef POSTLUDE_CAPI_PLAN_HPP
#define POSTLUDE_CAPI_PLAN_HPP

#include <postlude.h>

#include <postlude/plan.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "context.hpp"
#include "handle.hpp"

namespace postlude {
namespace detail {
namespace capi {

/// What a plan handle stands for.
class PlanState {
 public:
  static constexpr const char* handle_name = "plan";
  static constexpr const char* handle_source = "postlude_plan_create";
  static constexpr std::uint64_t handle_mark = 0x706f73746c706c6e;

  PlanState(std::shared_ptr<ContextState> context, Plan plan,
            std::vector<OperandDeclaration> operands)
      : context_(std::move(context)),
        plan_(std::move(plan)),
        operands_(std::move(operands)),
        gemm_choice_(plan_.gemm_choice()) {}
  /// Waits for the plan's work, which may still use its workspace.
  ~PlanState();

  const std::shared_ptr<ContextState>& context() const { return context_; }
  Device& device() const { return *context_->device; }
  bool stages_host_memory() const { return context_->stages_host_memory; }
  const Plan& plan() const { return plan_; }
  /// In the order of the bindings.
  const std::vector<OperandDeclaration>& operands() const { return operands_; }

  /// The text of Plan::explain, made when it is first asked for and then kept for the caller.
  const std::string& explanation();
  /// That of Plan::explain_json, likewise.
  const std::string& json_explanation();
  const std::string& gemm_choice() const { return gemm_choice_; }

 private:
  std::shared_ptr<ContextState> context_;  // Before plan_, which runs on its stream to the end.
  Plan plan_;
  std::vector<OperandDeclaration> operands_;
  std::string gemm_choice_;
  std::mutex explanation_mutex_;
  std::string explanation_;
  std::string json_explanation_;
};

/// What an execution of `plan` reads and writes, converted from the caller's structs. Errors: Error
/// (missing_operand, invalid_argument, version_mismatch) as far as no tensor has to be looked into.
Arguments to_arguments(const PlanState& plan, const postlude_bindings& bindings);

}  // namespace capi
}  // namespace detail
}  // namespace postlude

struct postlude_plan : postlude::detail::capi::Handle<postlude::detail::capi::PlanState> {
  using Handle::Handle;
};

#endif
