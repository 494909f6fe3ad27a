#include "plan.hpp"

#include <postlude/error.hpp>
#include <postlude/problem.hpp>

#include <cstring>

#include "builder.hpp"
#include "convert.hpp"
#include "guard.hpp"
#include "structs.hpp"

namespace postlude {
namespace detail {
namespace capi {

PlanState::~PlanState() { finish_work(device()); }

const std::string& PlanState::explanation() {
  const std::lock_guard<std::mutex> lock(explanation_mutex_);
  if (explanation_.empty()) explanation_ = plan_.explain();
  return explanation_;
}

const std::string& PlanState::json_explanation() {
  const std::lock_guard<std::mutex> lock(explanation_mutex_);
  if (json_explanation_.empty()) json_explanation_ = plan_.explain_json();
  return json_explanation_;
}

namespace {

LinearProblem to_problem(const postlude_problem* problem) {
  const postlude_problem known = read_struct(problem, "problem");
  LinearProblem converted;
  converted.x = to_tensor(known.x, "problem.x");
  converted.w = to_tensor(known.w, "problem.w");
  converted.compute = to_compute_mode(known.compute, "problem.compute");
  if (known.reserved != 0)
    throw Error(Status::invalid_argument,
                "problem.reserved is " + std::to_string(known.reserved) + ": expected 0");
  return converted;
}

std::vector<OperandDeclaration> to_declarations(const postlude_operand* operands,
                                                std::size_t count) {
  const ArgumentName argument("operands");
  std::vector<OperandDeclaration> declarations;
  for (const postlude_operand& operand : read_array(operands, count, argument, "operand_count")) {
    const ArgumentName name = argument.element(declarations.size());
    require_pointer(operand.name, name.member("name"), "the name that the expression uses");
    declarations.push_back({operand.name, to_operand_kind(operand.kind, name.member("kind")),
                            to_flag(operand.is_batched, name.member("is_batched"))});
  }
  return declarations;
}

/// The names of a list with commas between.
std::vector<std::string> separated(const std::string& list) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = list.find(',', begin);
    const std::string name = list.substr(begin, end == std::string::npos ? end : end - begin);
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

PlanOptions to_options(const postlude_plan_options* options) {
  PlanOptions converted;
  if (options == nullptr) return converted;
  const postlude_plan_options known = read_struct(options, "options");
  converted.layout = to_result_layout(known.layout, "options.layout");
  converted.compilation = to_compilation(known.compilation, "options.compilation");
  if (known.engine != nullptr) converted.engine = known.engine;
  if (known.gemm_choice != nullptr) converted.gemm_choice = known.gemm_choice;
  converted.autotune = to_flag(known.autotune, "options.autotune");
  if (known.reserved != 0)
    throw Error(Status::invalid_argument,
                "options.reserved is " + std::to_string(known.reserved) + ": expected 0");
  if (known.without_rewrites != nullptr)
    converted.without_rewrites = separated(known.without_rewrites);
  return converted;
}

std::string expression_text(const char* expression, const postlude_plan_options* options) {
  std::size_t length = 0;
  if (options != nullptr) length = read_struct(options, "options").expression_length;
  if (length == 0) return expression;
  const std::size_t end = strnlen(expression, length);
  if (end != length)
    throw Error(Status::invalid_argument,
                "expression has a NUL at byte " + std::to_string(end) +
                    ": expected none in its options.expression_length of " +
                    std::to_string(length) + " bytes");
  return std::string(expression, length);
}

/// The common part of the functions that make a plan. `epilogue` gives the program.
template <class MakeEpilogue>
postlude_plan* make_plan(postlude_context* context, const postlude_problem* problem,
                         const MakeEpilogue& epilogue, const postlude_operand* operands,
                         std::size_t operand_count, const postlude_plan_options* options) {
  const auto& context_state = state_of(context);
  const LinearProblem linear = to_problem(problem);
  const Epilogue program = epilogue();
  std::vector<OperandDeclaration> declarations = to_declarations(operands, operand_count);
  const PlanOptions plan_options = to_options(options);
  Device& device = *context_state->device;
  postlude_plan* plan = nullptr;
  device.run([&] {
    Plan compiled(device.space(nullptr, "stream"), linear, program, declarations, plan_options);
    plan = new postlude_plan(
        std::make_shared<PlanState>(context_state, std::move(compiled), std::move(declarations)));
  });
  return plan;
}

}  // namespace
}  // namespace capi
}  // namespace detail
}  // namespace postlude

using namespace postlude::detail::capi;

postlude_status postlude_plan_create(postlude_context* context, const postlude_problem* problem,
                                     const char* expression, const postlude_operand* operands,
                                     size_t operand_count, const postlude_plan_options* options,
                                     postlude_plan** plan) {
  return guard([&] {
    require_pointer(plan, "plan", "a place for the handle");
    *plan = nullptr;
    const auto epilogue = [&] {
      require_pointer(expression, "expression", "text in the epilogue language");
      return postlude::Epilogue(expression_text(expression, options));
    };
    *plan = make_plan(context, problem, epilogue, operands, operand_count, options);
  });
}

postlude_status postlude_plan_build(postlude_context* context, const postlude_problem* problem,
                                    const postlude_builder* builder,
                                    const postlude_operand* operands, size_t operand_count,
                                    const postlude_plan_options* options, postlude_plan** plan) {
  return guard([&] {
    require_pointer(plan, "plan", "a place for the handle");
    *plan = nullptr;
    const auto epilogue = [&] {
      const BuilderState& state = builder_of(builder);
      if (state.results.empty())
        throw postlude::Error(postlude::Status::invalid_argument,
                              "builder has no result: expected one of postlude_builder_result");
      return postlude::Epilogue(state.results);
    };
    *plan = make_plan(context, problem, epilogue, operands, operand_count, options);
  });
}

postlude_status postlude_plan_destroy(postlude_plan* plan) {
  return guard([&] { destroy_handle<PlanState>(plan); });
}

postlude_status postlude_plan_workspace_size(const postlude_plan* plan, size_t* bytes) {
  return guard([&] {
    const auto& state = state_of(plan);
    require_pointer(bytes, "bytes", "a place for the answer");
    *bytes = state->plan().workspace_bytes();
  });
}

postlude_status postlude_plan_workspace_size_with_weights(const postlude_plan* plan,
                                                          size_t* bytes) {
  return guard([&] {
    const auto& state = state_of(plan);
    require_pointer(bytes, "bytes", "a place for the answer");
    *bytes = state->plan().workspace_bytes_with_prepared_weights();
  });
}

postlude_status postlude_plan_result_count(const postlude_plan* plan, size_t* count) {
  return guard([&] {
    const auto& state = state_of(plan);
    require_pointer(count, "count", "a place for the answer");
    *count = state->plan().result_count();
  });
}

postlude_status postlude_plan_result(const postlude_plan* plan, size_t index,
                                     postlude_result_info* info) {
  return guard([&] {
    const postlude::Plan& compiled = state_of(plan)->plan();
    require_pointer(info, "info", "a struct set up with POSTLUDE_RESULT_INFO_INIT");
    require_output_size(info->size, sizeof(*info), "info");
    if (index >= compiled.result_count())
      throw postlude::Error(postlude::Status::invalid_argument,
                            "index is " + std::to_string(index) + ": expected less than " +
                                std::to_string(compiled.result_count()) +
                                ", the number of results");
    const std::vector<int64_t> extents = compiled.result_extents(index);
    info->name = compiled.result_name(index).c_str();
    info->dtype = static_cast<postlude_dtype>(compiled.result_dtype(index));
    for (std::size_t dimension = 0; dimension < 3; ++dimension)
      info->extent[dimension] = extents.at(dimension);
  });
}

postlude_status postlude_plan_work(const postlude_plan* plan, double* gemm_flops,
                                   double* minimum_bytes) {
  return guard([&] {
    const auto& state = state_of(plan);
    require_pointer(gemm_flops, "gemm_flops", "a place for the answer");
    require_pointer(minimum_bytes, "minimum_bytes", "a place for the answer");
    *gemm_flops = state->plan().gemm_flops();
    *minimum_bytes = state->plan().minimum_bytes();
  });
}

postlude_status postlude_plan_explain(const postlude_plan* plan, const char** text) {
  return guard([&] {
    const auto& state = state_of(plan);
    require_pointer(text, "text", "a place for the pointer");
    *text = state->explanation().c_str();
  });
}

postlude_status postlude_plan_explain_json(const postlude_plan* plan, const char** text) {
  return guard([&] {
    const auto& state = state_of(plan);
    require_pointer(text, "text", "a place for the pointer");
    *text = state->json_explanation().c_str();
  });
}

postlude_status postlude_plan_gemm_choice(const postlude_plan* plan, const char** text) {
  return guard([&] {
    const auto& state = state_of(plan);
    require_pointer(text, "text", "a place for the pointer");
    *text = state->gemm_choice().c_str();
  });
}
