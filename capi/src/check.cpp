#include <postlude/check.hpp>

#include <postlude.h>

#include <postlude/error.hpp>

#include <string>

#include "argument_name.hpp"
#include "guard.hpp"
#include "plan.hpp"
#include "structs.hpp"

namespace {

using namespace postlude::detail::capi;
using postlude::Error;
using postlude::MemorySpace;
using postlude::Status;

void require_host(const postlude::Tensor& tensor, const std::string& argument) {
  if (tensor.memory_space == MemorySpace::device)
    throw Error(Status::wrong_memory_space,
                argument + ".memory_space is POSTLUDE_DEVICE (2): expected a copy on the host");
}

void require_host(const postlude::Arguments& arguments) {
  require_host(arguments.x, "bindings.x");
  require_host(arguments.w, "bindings.w");
  for (const postlude::Binding& binding : arguments.bindings)
    if (!binding.is_scalar) require_host(binding.tensor, binding.name);
  for (std::size_t i = 0; i < arguments.outputs.size(); ++i)
    require_host(arguments.outputs[i], "bindings.outputs[" + std::to_string(i) + "]");
}

/// The caller's structs for the answers, each of which may be larger than the library's.
std::vector<postlude_check_result*> places(postlude_check_result* results, std::size_t count,
                                           std::size_t expected) {
  const ArgumentName argument("results");
  if (count != expected)
    throw Error(Status::invalid_argument, "result_count is " + std::to_string(count) +
                                              ": expected " + std::to_string(expected) +
                                              ", the number of results of the plan");
  require_array(results, count, argument, "result_count");
  const std::size_t spacing = stated_size(results);
  std::vector<postlude_check_result*> found;
  for (std::size_t i = 0; i < count; ++i) {
    auto* result =
        reinterpret_cast<postlude_check_result*>(reinterpret_cast<char*>(results) + i * spacing);
    require_output_size(result->size, sizeof(postlude_check_result), argument.element(i));
    found.push_back(result);
  }
  return found;
}

}  // namespace

postlude_status postlude_check(const postlude_plan* plan, const postlude_bindings* bindings,
                               double tolerance, postlude_check_result* results,
                               size_t result_count) {
  return guard([&] {
    PlanState& state = *state_of(plan);
    const postlude_bindings known = read_struct(bindings, "bindings");
    const postlude::Arguments arguments = to_arguments(state, known);
    require_host(arguments);
    const auto answers = places(results, result_count, state.plan().result_count());
    const auto found = compare_with_reference(state.plan(), arguments, tolerance);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      answers[i]->elements = found.at(i).elements;
      answers[i]->violations = found.at(i).violations;
      answers[i]->largest_absolute_error = found.at(i).largest_absolute_error;
      answers[i]->largest_relative_error = found.at(i).largest_relative_error;
      answers[i]->tolerance = found.at(i).tolerance;
    }
  });
}
