#include <postlude.h>

#include <postlude/error.hpp>

#include <string>

#include "convert.hpp"
#include "guard.hpp"
#include "plan.hpp"
#include "staging.hpp"
#include "structs.hpp"
#include "weights.hpp"

namespace postlude {
namespace detail {
namespace capi {
namespace {

/// The plan fixes the count, so both a missing and a superfluous value are faults.
void require_operand_count(const PlanState& plan, std::size_t count) {
  const auto& operands = plan.operands();
  if (count == operands.size()) return;
  const std::string fault = "bindings.operand_count is " + std::to_string(count) + ": expected " +
                            std::to_string(operands.size()) +
                            ", one value for each operand of the plan";
  if (count > operands.size()) throw Error(Status::invalid_argument, fault);
  throw Error(Status::missing_operand,
              fault + "; the operand " + operands[count].name + " has none");
}

void require_output_count(const PlanState& plan, std::size_t count) {
  const std::size_t expected = plan.plan().result_count();
  if (count != expected)
    throw Error(Status::invalid_argument, "bindings.output_count is " + std::to_string(count) +
                                              ": expected " + std::to_string(expected) +
                                              ", one tensor for each result of the plan");
}

}  // namespace

Arguments to_arguments(const PlanState& plan, const postlude_bindings& bindings) {
  Arguments arguments;
  arguments.x = to_tensor(bindings.x, "bindings.x");
  arguments.w = to_tensor(bindings.w, "bindings.w");

  require_operand_count(plan, bindings.operand_count);
  const ArgumentName operands("bindings.operands");
  std::size_t index = 0;
  for (const postlude_operand_value& value :
       read_array(bindings.operands, bindings.operand_count, operands, "bindings.operand_count")) {
    const OperandDeclaration& operand = plan.operands()[index];
    if (operand.kind == OperandKind::scalar)
      arguments.bindings.emplace_back(operand.name, value.scalar);
    else
      arguments.bindings.emplace_back(
          operand.name, to_tensor(value.tensor, operands.element(index).member("tensor")));
    ++index;
  }

  require_output_count(plan, bindings.output_count);
  const ArgumentName outputs("bindings.outputs");
  for (const postlude_tensor& output :
       read_array(bindings.outputs, bindings.output_count, outputs, "bindings.output_count"))
    arguments.outputs.push_back(to_tensor(output, outputs.element(arguments.outputs.size())));
  return arguments;
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude

postlude_status postlude_execute(const postlude_plan* plan, const postlude_bindings* bindings,
                                 void* stream) {
  using namespace postlude::detail::capi;
  return guard([&] {
    const PlanState& state = *state_of(plan);
    const postlude_bindings known = read_struct(bindings, "bindings");
    postlude::Arguments arguments = to_arguments(state, known);
    if (known.weights != nullptr) {
      const auto& weights = state_of(known.weights);
      if (weights->context() != state.context())
        throw postlude::Error(
            postlude::Status::invalid_argument,
            "bindings.weights were prepared in another context than the plan's: expected "
            "weights of the same one");
      arguments.prepared_weights = &weights->weights();
      arguments.w = weights->bound(arguments.w);
    }
    if (known.workspace == nullptr && known.workspace_bytes != 0)
      throw postlude::Error(postlude::Status::invalid_argument,
                            "bindings.workspace is null: expected memory of " +
                                std::to_string(known.workspace_bytes) +
                                " bytes, the value of bindings.workspace_bytes");
    Device& device = state.device();
    device.run([&] {
      const postlude::ExecutionSpace space = device.space(stream, "stream");
      if (!state.stages_host_memory())
        return state.plan().execute(space, arguments, known.workspace, known.workspace_bytes);
      const Staging staging(device, arguments);
      state.plan().validate(space, staging.arguments(), known.workspace, known.workspace_bytes);
      staging.copy_in();
      state.plan().execute(space, staging.arguments(), known.workspace, known.workspace_bytes);
      staging.copy_out();
    });
  });
}
