#include <postlude/expression.hpp>

#include <cmath>
#include <limits>
#include <set>

#include <postlude/error.hpp>

#include "expression/call.hpp"
#include "expression/node.hpp"
#include "expression/parser.hpp"
#include "expression/signature.hpp"

namespace postlude {

Expression::Expression(double constant) : node_(detail::make_constant(constant, {})) {}

Expression y() { return Expression(detail::make_gemm_result({})); }

namespace {

void require_operand_name(const std::string& name) {
  if (!detail::is_identifier(name) || detail::is_reserved_name(name))
    throw Error(Status::invalid_argument,
                "name is '" + name.substr(0, 64) +
                    "': expected letters, digits and underscores, and no name of the language");
}

}  // namespace

Expression operand(const std::string& name) {
  require_operand_name(name);
  return Expression(detail::make_operand(name, {}));
}

Expression call(const std::string& function, const std::vector<CallArgument>& arguments) {
  detail::Call call{function, {}, {}, {}};
  for (const CallArgument& argument : arguments) {
    if (argument.keyword.empty() && !call.arguments.empty() &&
        !call.arguments.back().keyword.empty())
      throw Error(Status::syntax_error, "a positional argument of '" + function.substr(0, 64) +
                                            "' cannot follow one given by keyword");
    call.arguments.push_back({argument.keyword, {}, argument.value.node()});
  }
  return Expression(detail::make_call(call, ""));
}

Expression operand(const std::string& name, OperandKind kind, bool is_batched) {
  require_operand_name(name);
  auto node = std::make_shared<detail::Node>(*detail::make_operand(name, {}));
  node->declares_kind = true;
  node->operand_kind = kind;
  node->operand_is_batched = is_batched;
  return Expression(std::move(node));
}

Expression scalar(const std::string& name) { return operand(name, OperandKind::scalar); }
Expression row(const std::string& name) { return operand(name, OperandKind::row); }
Expression column(const std::string& name) { return operand(name, OperandKind::column); }
Expression matrix(const std::string& name) { return operand(name, OperandKind::matrix); }
Expression element(const std::string& name) { return operand(name, OperandKind::element); }

namespace detail {

Expression apply(Operation operation, std::vector<Expression> arguments) {
  const OperationSignature& signature = signature_of(operation);
  std::vector<NodePointer> inputs;
  for (const Expression& argument : arguments) inputs.push_back(argument.node());
  for (std::size_t i = inputs.size(); i < signature.parameters.size(); ++i)
    if (signature.parameters[i].has_default)
      inputs.push_back(make_constant(signature.parameters[i].default_value, {}));
  if (inputs.size() != signature.parameters.size())
    throw Error(Status::invalid_argument, signature.name + " was given " +
                                              std::to_string(arguments.size()) +
                                              " arguments: expected (" + signature.text + ")");
  return Expression(make_operation(operation, std::move(inputs), {}, ""));
}

}  // namespace detail

Expression reduce(Reduction reduction, const Expression& v, int dim) {
  return reduce(reduction, v, dim, std::numeric_limits<double>::quiet_NaN());
}

Expression reduce(Reduction reduction, const Expression& v, int dim, double parameter) {
  if (dim < -2 || dim > 1)
    throw Error(
        Status::invalid_argument,
        "dim is " + std::to_string(dim) + ": expected 0 (over the rows) or 1 (over the columns)");
  if (std::isnan(parameter)) parameter = detail::signature_of(reduction).default_value;
  return Expression(
      detail::make_reduction(reduction, v.node(), dim < 0 ? dim + 2 : dim, parameter, {}, ""));
}

Epilogue::Epilogue(const Expression& value) : results_{{"result", value}} {}

Epilogue::Epilogue(std::vector<Result> results) : results_(std::move(results)) {
  if (results_.empty())
    throw Error(Status::invalid_argument, "results is empty: expected at least one result");
  std::set<std::string> names;
  for (const Result& result : results_) {
    if (!detail::is_identifier(result.name))
      throw Error(Status::invalid_argument, "a result's name is '" + result.name.substr(0, 64) +
                                                "': expected letters, digits and underscores");
    if (!names.insert(result.name).second)
      throw Error(Status::invalid_argument,
                  "a result's name is '" + result.name + "', which an earlier result has already");
  }
}

Epilogue::Epilogue(const std::string& text) : results_(detail::parse(text)), text_(text) {}

}  // namespace postlude
