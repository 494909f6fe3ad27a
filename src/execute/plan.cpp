#include <postlude/plan.hpp>

#include <postlude/error.hpp>

#include "execute/plan_implementation.hpp"

namespace postlude {
namespace {

const detail::Value& result_value(const detail::PlanImplementation& implementation,
                                  std::size_t result) {
  const detail::Program& program = implementation.program();
  if (result >= program.results.size())
    throw Error(Status::invalid_argument, "result is " + std::to_string(result) +
                                              ": the plan has " +
                                              std::to_string(program.results.size()) + " results");
  return program.values[static_cast<std::size_t>(program.results[result].value)];
}

}  // namespace

Plan::Plan(const ExecutionSpace& space, const LinearProblem& problem, const Epilogue& epilogue,
           const std::vector<OperandDeclaration>& operands, const PlanOptions& options)
    : implementation_(std::make_shared<const detail::PlanImplementation>(space, problem, epilogue,
                                                                         operands, options)) {}

void Plan::execute(const Arguments& arguments) const {
  execute(implementation_->space(), arguments);
}

void Plan::execute(const ExecutionSpace& space, const Arguments& arguments, void* workspace,
                   std::size_t workspace_bytes) const {
  implementation_->execute(space, arguments, workspace, workspace_bytes);
}

void Plan::validate(const ExecutionSpace& space, const Arguments& arguments, void* workspace,
                    std::size_t workspace_bytes) const {
  implementation_->require_backend(space);
  implementation_->validate(space.backend(), arguments, workspace, workspace_bytes);
}

std::size_t Plan::workspace_bytes() const noexcept {
  return implementation_->plan().workspace_bytes;
}

std::size_t Plan::workspace_bytes_with_prepared_weights() const noexcept {
  return implementation_->plan().workspace_bytes - implementation_->plan().weights_bytes;
}

std::size_t Plan::result_count() const noexcept {
  return implementation_->program().results.size();
}

const std::string& Plan::result_name(std::size_t result) const {
  result_value(*implementation_, result);
  return implementation_->program().results[result].name;
}

std::vector<std::int64_t> Plan::result_extents(std::size_t result) const {
  const detail::Shape& shape = result_value(*implementation_, result).shape;
  return {shape.batch, shape.rows, shape.columns};
}

DataType Plan::result_dtype(std::size_t result) const {
  return result_value(*implementation_, result).is_index() ? DataType::int64
                                                           : implementation_->plan().gemm.dtype;
}

double Plan::gemm_flops() const noexcept { return detail::gemm_flops(implementation_->plan()); }

double Plan::minimum_bytes() const noexcept {
  return detail::minimum_bytes(implementation_->plan());
}

std::string Plan::gemm_choice() const { return implementation_->gemm_choice(); }

std::string Plan::explain() const {
  return detail::explain(implementation_->plan(), implementation_->program());
}

std::string Plan::explain_json() const {
  return detail::explain_json(implementation_->plan(), implementation_->program());
}

}  // namespace postlude
