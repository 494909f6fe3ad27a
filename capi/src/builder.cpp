#include "builder.hpp"

#include <postlude/error.hpp>

#include <string>
#include <utility>

#include "guard.hpp"
#include "structs.hpp"

namespace postlude {
namespace detail {
namespace capi {

BuilderState& builder_of(const postlude_builder* builder) {
  require_handle<BuilderState>(builder);
  return *builder->state;
}

namespace {

const Expression& expression_of(const BuilderState& builder, postlude_value value,
                                const ArgumentName& argument) {
  const auto count = static_cast<postlude_value>(builder.values.size());
  if (value < 1 || value > count)
    throw Error(Status::invalid_argument, argument.text() + " is " + std::to_string(value) +
                                              ": expected a value of this builder, which has " +
                                              std::to_string(count));
  return builder.values[static_cast<std::size_t>(value - 1)];
}

/// Adds a value, and tells the caller only when that has succeeded.
void add_value(BuilderState& builder, Expression expression, postlude_value* value) {
  builder.values.push_back(std::move(expression));
  *value = static_cast<postlude_value>(builder.values.size());
}

}  // namespace
}  // namespace capi
}  // namespace detail
}  // namespace postlude

using namespace postlude::detail::capi;
using postlude::Error;
using postlude::Status;

postlude_status postlude_builder_create(postlude_builder** builder) {
  return guard([&] {
    require_pointer(builder, "builder", "a place for the handle");
    *builder = nullptr;
    *builder = new postlude_builder(std::make_shared<BuilderState>());
  });
}

postlude_status postlude_builder_destroy(postlude_builder* builder) {
  return guard([&] { destroy_handle<BuilderState>(builder); });
}

postlude_status postlude_builder_y(postlude_builder* builder, postlude_value* value) {
  return guard([&] {
    BuilderState& state = builder_of(builder);
    require_pointer(value, "value", "a place for the answer");
    add_value(state, postlude::y(), value);
  });
}

postlude_status postlude_builder_constant(postlude_builder* builder, double number,
                                          postlude_value* value) {
  return guard([&] {
    BuilderState& state = builder_of(builder);
    require_pointer(value, "value", "a place for the answer");
    add_value(state, postlude::Expression(number), value);
  });
}

postlude_status postlude_builder_operand(postlude_builder* builder, const char* name,
                                         postlude_value* value) {
  return guard([&] {
    BuilderState& state = builder_of(builder);
    require_pointer(name, "name", "the operand's name");
    require_pointer(value, "value", "a place for the answer");
    add_value(state, postlude::operand(name), value);
  });
}

postlude_status postlude_builder_call(postlude_builder* builder, const char* function_name,
                                      const postlude_argument* arguments, size_t argument_count,
                                      postlude_value* value) {
  return guard([&] {
    BuilderState& state = builder_of(builder);
    require_pointer(function_name, "function_name", "a name or an operator of the language");
    require_pointer(value, "value", "a place for the answer");
    const ArgumentName name("arguments");
    std::vector<postlude::CallArgument> converted;
    for (const postlude_argument& argument :
         read_array(arguments, argument_count, name, "argument_count")) {
      const ArgumentName element = name.element(converted.size());
      converted.push_back({expression_of(state, argument.value, element.member("value")),
                           argument.keyword == nullptr ? "" : argument.keyword});
    }
    add_value(state, postlude::call(function_name, converted), value);
  });
}

postlude_status postlude_builder_result(postlude_builder* builder, const char* name,
                                        postlude_value value) {
  return guard([&] {
    BuilderState& state = builder_of(builder);
    require_pointer(name, "name", "the result's name");
    std::vector<postlude::Epilogue::Result> results = state.results;
    results.push_back({name, expression_of(state, value, "value")});
    postlude::Epilogue{results};  // refuses a name
    state.results = std::move(results);
  });
}
