#include "expression/call.hpp"

#include <utility>

#include "expression/composites.hpp"
#include "expression/signature.hpp"

namespace postlude {
namespace detail {
namespace {

[[noreturn]] void fail_call(const Call& call, const std::string& message, const std::string& text) {
  fail_at(Status::syntax_error, message, text, call.function_span);
}

[[noreturn]] void fail_keyword(const ArgumentNode& argument, const std::string& function,
                               const std::string& usage, const std::string& text) {
  fail_at(Status::unknown_name,
          "'" + function + "' has no argument '" + argument.keyword.substr(0, 64) + "': expected " +
              usage,
          text, argument.keyword_span);
}

/// The arguments in the order of the parameters, with defaults filled in and null for an optional
/// one that was left out. `Signature` has a text and parameters.
template <class Signature>
std::vector<NodePointer> match(const Signature& signature, const Call& call,
                               const std::string& text) {
  const std::vector<ArgumentNode>& list = call.arguments;
  std::vector<NodePointer> inputs(signature.parameters.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::size_t slot = i;
    if (!list[i].keyword.empty()) {
      slot = 0;
      while (slot < inputs.size() && signature.parameters[slot].name != list[i].keyword) ++slot;
      if (slot == inputs.size()) fail_keyword(list[i], call.function, signature.text, text);
    }
    if (slot >= inputs.size())
      fail_call(call,
                "'" + call.function + "' takes at most " + std::to_string(inputs.size()) +
                    " arguments (" + signature.text + "), found " + std::to_string(list.size()),
                text);
    if (inputs[slot] != nullptr)
      fail_call(call,
                "argument '" + signature.parameters[slot].name + "' of '" + call.function +
                    "' is given twice",
                text);
    inputs[slot] = list[i].value;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    if (inputs[i] != nullptr || parameter.is_optional) continue;
    if (!parameter.has_default)
      fail_call(call,
                "'" + call.function + "' needs its argument '" + parameter.name + "' (" +
                    signature.text + ")",
                text);
    inputs[i] = make_constant(parameter.default_value, call.span);
  }
  return inputs;
}

NodePointer reduce(const ReductionSignature& signature, const Call& call, const std::string& text) {
  const std::string usage = signature.name + "(v, dim" +
                            (signature.parameter.empty() ? "" : ", " + signature.parameter) + ")";
  NodePointer value;
  NodePointer dim;
  NodePointer parameter;
  for (const ArgumentNode& argument : call.arguments) {
    NodePointer* target = nullptr;
    if (argument.keyword.empty() && value == nullptr) {
      target = &value;
    } else if (argument.keyword == "dim") {
      target = &dim;
    } else if (!signature.parameter.empty() && argument.keyword == signature.parameter) {
      target = &parameter;
    } else if (argument.keyword.empty()) {
      fail_call(
          call,
          "'" + signature.name + "' reduces one value; give the dimension by keyword: " + usage,
          text);
    } else {
      fail_keyword(argument, signature.name, usage, text);
    }
    if (*target != nullptr)
      fail_call(call, "an argument of '" + signature.name + "' is given twice", text);
    *target = argument.value;
  }
  if (value == nullptr) fail_call(call, "'" + signature.name + "' needs a value: " + usage, text);
  if (dim == nullptr)
    fail_call(call, "'" + signature.name + "' needs dim=0 or dim=1: " + usage, text);
  return make_reduction(signature.reduction, value, dimension_of(*dim, text),
                        parameter == nullptr ? signature.default_value
                                             : constant_of(*parameter, signature.parameter, text),
                        call.span, text);
}

}  // namespace

void require_function(const std::string& name, SourceSpan span, const std::string& text) {
  if (find_function(name) != nullptr || find_reduction(name) != nullptr ||
      find_composite(name) != nullptr)
    return;
  std::string guess = operator_instead_of(name);
  if (guess.empty()) guess = closest_name(name, function_names());
  fail_at(Status::unknown_name,
          "unknown function '" + name.substr(0, 64) + "'" +
              (guess.empty() ? "" : "; did you mean '" + guess + "'?"),
          text, span);
}

NodePointer make_call(const Call& call, const std::string& text) {
  // A single argument negates with "-"; with the others it is one too few.
  const OperatorSignature* symbol =
      call.arguments.size() == 1 ? find_operator(call.function, 1) : nullptr;
  if (symbol == nullptr) symbol = find_operator(call.function, 2);
  if (symbol != nullptr)
    return make_operation(symbol->operation, match(signature_of(symbol->operation), call, text),
                          call.span, text);
  require_function(call.function, call.function_span, text);
  if (const CompositeSignature* composite = find_composite(call.function))
    return expand(composite->composite, match(*composite, call, text), call.span, text);
  const OperationSignature* pointwise = find_function(call.function);
  const ReductionSignature* reduction = find_reduction(call.function);
  bool has_dim = false;
  for (const ArgumentNode& argument : call.arguments)
    has_dim = has_dim || argument.keyword == "dim";
  if (reduction != nullptr && (has_dim || pointwise == nullptr))
    return reduce(*reduction, call, text);
  if (reduction != nullptr && call.arguments.size() == 1)
    fail_call(call, "'" + call.function + "' of one value needs dim=0 or dim=1, or a second value",
              text);
  return make_operation(pointwise->operation, match(*pointwise, call, text), call.span, text);
}

}  // namespace detail
}  // namespace postlude
