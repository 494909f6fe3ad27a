#include <climits>
#include <cstdint>
#include <string>

#include <postlude/error.hpp>
#include <postlude/prepared_weights.hpp>

#include "execute/binding.hpp"
#include "execute/footprint.hpp"
#include "execute/memory.hpp"
#include "execute/plan_implementation.hpp"
#include "execute/prepared_weights_implementation.hpp"
#include "execute/tensor_checks.hpp"
#include "expression/composites.hpp"
#include "expression/number_text.hpp"
#include "gemm/matrix_form.hpp"

namespace postlude {
namespace detail {
namespace {

/// x and w must be as they were described when the plan was made: the engine was chosen for that.
void require_as_planned(const Tensor& tensor, const Tensor& planned, const TensorName& name) {
  if (!same_form(tensor, planned))
    throw Error(Status::shape_mismatch, name + " is " + form_text(tensor) +
                                            ": the plan was made for " + form_text(planned));
  const int dimension = different_stride(tensor, planned);
  if (dimension >= 0)
    throw Error(Status::shape_mismatch,
                name + " has stride " + std::to_string(tensor.stride[dimension]) +
                    " in dimension " + std::to_string(dimension) +
                    ": the plan was made for stride " + std::to_string(planned.stride[dimension]));
}

void require_shape(const Tensor& tensor, const Shape& wanted, bool is_batched,
                   const TensorName& name) {
  const Shape shape = shape_of(tensor, reading_as(wanted, is_batched));
  if (shape != wanted)
    throw Error(Status::shape_mismatch,
                name + " has shape " + extents_text(tensor) + ": expected " + to_string(wanted));
}

void require_float(const Tensor& tensor, const TensorName& name) {
  if (tensor.dtype == DataType::int64)
    throw Error(Status::unsupported, name + " has dtype i64: expected f64, f32, f16 or bf16");
}

void validate_operand(const ProgramOperand& operand, const Binding& binding, Backend backend) {
  const TensorName name("operand", operand.name);
  const bool wants_scalar = operand.kind == OperandKind::scalar;
  if (wants_scalar != binding.is_scalar)
    throw Error(Status::invalid_argument,
                name + " is bound to a " + (binding.is_scalar ? "number" : "tensor") +
                    ": expected a " + (wants_scalar ? "number" : "tensor"));
  if (wants_scalar) {
    if (operand.is_seed && !is_valid_seed(binding.scalar))
      throw Error(Status::invalid_argument,
                  name + " is " + number_text(binding.scalar) +
                      ": a seed must be a whole number of magnitude at most 2^53");
    return;
  }
  require_usable(binding.tensor, name, backend);
  require_float(binding.tensor, name);
  require_shape(binding.tensor, operand.shape, operand.is_batched, name);
}

void validate_output(const ExecutionPlan& plan, std::size_t index, const Tensor& output,
                     Backend backend) {
  const ProgramResult& result = plan.program.results[index];
  const Value& value = plan.program.values[static_cast<std::size_t>(result.value)];
  const TensorName name("output", result.name);
  require_usable(output, name, backend);
  if (value.is_index() && output.dtype != DataType::int64)
    throw Error(Status::unsupported,
                name + " has dtype " + name_of(output.dtype) + ": an index needs i64");
  if (!value.is_index()) require_float(output, name);
  require_shape(output, value.shape, false, name);
  if (overlaps_itself(output))
    throw Error(Status::overlap, name + " has strides that map two elements to one address");
  if (plan.y_place != GemmResultPlace::result || plan.y_result != index) return;
  if (output.dtype != plan.gemm.dtype)
    throw Error(Status::unsupported, name + " has dtype " + name_of(output.dtype) +
                                         ": it holds y during the execution, which needs " +
                                         name_of(plan.gemm.dtype) +
                                         "; plan with the layout 'any' for another");
  const MatrixForm wanted =
      plan.layout == ResultLayout::row_major ? MatrixForm::row_major : MatrixForm::column_major;
  const MatrixStrides strides = strides_of(output, reading_as(value.shape));
  const MatrixStrides turned{strides.batch, strides.column, strides.row};
  const BlasMatrix held = wanted == MatrixForm::row_major
                              ? blas_form(value.shape.rows, value.shape.columns, strides)
                              : blas_form(value.shape.columns, value.shape.rows, turned);
  const bool fits = held.form == MatrixForm::row_major && held.leading_dimension <= INT_MAX;
  if (!fits && element_count(output) > 0)
    throw Error(Status::shape_mismatch,
                name + " is not " +
                    (wanted == MatrixForm::row_major ? "row-major" : "column-major") +
                    ", the layout that the plan was made for; plan with the layout of the output, "
                    "or 'any'");
}

}  // namespace

std::vector<const Binding*> PlanImplementation::validate(Backend backend,
                                                         const Arguments& arguments,
                                                         const void* workspace,
                                                         std::size_t workspace_bytes) const {
  const bool uses_y = program_.uses_y();
  require_as_planned(arguments.x, problem_.x, "x");
  require_as_planned(arguments.w, problem_.w, "w");
  const GemmWeights* const weights = weights_for(arguments);
  if (arguments.prepared_weights != nullptr)
    arguments.prepared_weights->implementation().validate(*this, arguments.w);
  const bool reads_w = uses_y && !(weights != nullptr && arguments.w.data == nullptr);
  if (uses_y) require_usable(arguments.x, "x", backend);
  if (reads_w) require_usable(arguments.w, "w", backend);
  const std::vector<const Binding*> bindings = match_bindings(plan_.program, arguments.bindings);
  for (std::size_t i = 0; i < bindings.size(); ++i)
    if (plan_.program.operands[i].is_used)
      validate_operand(plan_.program.operands[i], *bindings[i], backend);

  const std::size_t results = plan_.program.results.size();
  if (arguments.outputs.size() != results)
    throw Error(Status::invalid_argument, "outputs has " +
                                              std::to_string(arguments.outputs.size()) +
                                              " tensors: expected " + std::to_string(results));
  for (std::size_t i = 0; i < results; ++i)
    validate_output(plan_, i, arguments.outputs[i], backend);

  const std::size_t needed = workspace_bytes_with(weights);
  if (workspace != nullptr) {
    if (workspace_bytes < needed)
      throw Error(Status::invalid_argument, "workspace_bytes is " +
                                                std::to_string(workspace_bytes) +
                                                ": expected at least " + std::to_string(needed));
    if (reinterpret_cast<std::uintptr_t>(workspace) % workspace_alignment != 0)
      throw Error(Status::invalid_argument, "workspace is misaligned: expected a multiple of " +
                                                std::to_string(workspace_alignment) + " bytes");
    if (!is_plausible_address(backend, workspace))
      throw Error(Status::wrong_memory_space, std::string("workspace is in memory that backend ") +
                                                  name_of(backend) + " cannot reach");
  }

  for (std::size_t i = 0; i < results; ++i) {
    const Tensor& output = arguments.outputs[i];
    const TensorName output_name("output", plan_.program.results[i].name);
    const auto require_apart = [&](const Tensor& other, const TensorName& name) {
      if (may_overlap(output, other))
        throw Error(Status::overlap, output_name + " overlaps " + name.text());
    };
    if (uses_y) {
      require_apart(arguments.x, "x");
      if (reads_w) require_apart(arguments.w, "w");
    }
    for (std::size_t j = 0; j < bindings.size(); ++j)
      if (plan_.program.operands[j].is_used && !bindings[j]->is_scalar)
        require_apart(bindings[j]->tensor, {"operand", plan_.program.operands[j].name});
    for (std::size_t j = 0; j < i; ++j)
      require_apart(arguments.outputs[j], {"output", plan_.program.results[j].name});
    if (workspace != nullptr && overlaps_bytes(output, workspace, needed))
      throw Error(Status::overlap, output_name + " overlaps the workspace");
  }
  return bindings;
}

}  // namespace detail
}  // namespace postlude
