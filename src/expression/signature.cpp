#include "expression/signature.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace postlude {
namespace detail {
namespace {

double parse_default(const std::string& text) {
  // strtod also reads "inf" and "-inf"; the table is ours, so no error handling is needed.
  return std::strtod(text.c_str(), nullptr);
}

std::vector<Parameter> parse_parameters(std::string_view text) {
  std::vector<Parameter> parameters;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    const std::size_t equals = item.find('=');
    Parameter parameter;
    parameter.name = std::string(item.substr(0, equals));
    if (equals != std::string_view::npos) {
      const std::string value(item.substr(equals + 1));
      parameter.is_optional = value == "none";
      parameter.has_default = !parameter.is_optional;
      if (parameter.has_default) parameter.default_value = parse_default(value);
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

const std::vector<OperationSignature>& operations() {
  static const std::vector<OperationSignature> table = [] {
    std::vector<OperationSignature> rows;
#define POSTLUDE_ROW(name, arity, signature, formula) \
  rows.push_back({Operation::name, #name, arity, true, signature, parse_parameters(signature)});
    POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_ROW)
#undef POSTLUDE_ROW
#define POSTLUDE_ROW(name, arity, signature, formula) \
  rows.push_back({Operation::name, #name, arity, false, signature, parse_parameters(signature)});
    POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_ROW)
#undef POSTLUDE_ROW
    return rows;
  }();
  return table;
}

constexpr OperatorSignature operators[] = {
    {Operation::add, "+", "add", Precedence::sum},
    {Operation::subtract, "-", "sub", Precedence::sum},
    {Operation::multiply, "*", "mul", Precedence::product},
    {Operation::divide, "/", "div", Precedence::product},
    {Operation::negate, "-", "neg", Precedence::product},
    {Operation::power, "**", "pow", Precedence::power},
    {Operation::less, "<", "lt", Precedence::comparison},
    {Operation::less_equal, "<=", "le", Precedence::comparison},
    {Operation::greater, ">", "gt", Precedence::comparison},
    {Operation::greater_equal, ">=", "ge", Precedence::comparison},
    {Operation::equal, "==", "eq", Precedence::comparison},
    {Operation::not_equal, "!=", "ne", Precedence::comparison}};

const std::vector<ReductionSignature>& reductions() {
  static const std::vector<ReductionSignature> table = {
#define POSTLUDE_ROW(name, parameter, fallback, formula) \
  ReductionSignature{Reduction::name, #name, parameter, fallback},
      POSTLUDE_REDUCTIONS(POSTLUDE_ROW)
#undef POSTLUDE_ROW
  };
  return table;
}

const std::vector<CompositeSignature>& composites() {
  static const std::vector<CompositeSignature> table = {
#define POSTLUDE_ROW(name, signature, formula) \
  CompositeSignature{Composite::name, #name, signature, parse_parameters(signature)},
      POSTLUDE_COMPOSITES(POSTLUDE_ROW)
#undef POSTLUDE_ROW
  };
  return table;
}

struct Alias {
  const char* alias;
  Operation operation;
};

const std::vector<Alias>& aliases() {
  static const std::vector<Alias> table = {
#define POSTLUDE_ROW(alias, name) Alias{#alias, Operation::name},
      POSTLUDE_ALIASES(POSTLUDE_ROW)
#undef POSTLUDE_ROW
  };
  return table;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row[b.size()];
}

}  // namespace

const OperationSignature& signature_of(Operation operation) {
  return operations()[static_cast<std::size_t>(operation)];
}

const ReductionSignature& signature_of(Reduction reduction) {
  return reductions()[static_cast<std::size_t>(reduction)];
}

const CompositeSignature& signature_of(Composite composite) {
  return composites()[static_cast<std::size_t>(composite)];
}

const OperationSignature* find_function(std::string_view name) {
  for (const OperationSignature& row : operations())
    if (!row.is_operator && row.name == name) return &row;
  for (const Alias& row : aliases())
    if (row.alias == name) return &signature_of(row.operation);
  return nullptr;
}

const ReductionSignature* find_reduction(std::string_view name) {
  for (const ReductionSignature& row : reductions())
    if (row.name == name) return &row;
  return nullptr;
}

const CompositeSignature* find_composite(std::string_view name) {
  for (const CompositeSignature& row : composites())
    if (row.name == name) return &row;
  return nullptr;
}

const OperatorSignature* find_operator(std::string_view symbol, int arity) {
  for (const OperatorSignature& row : operators)
    if (row.symbol == symbol && signature_of(row.operation).arity == arity) return &row;
  return nullptr;
}

std::string operator_instead_of(std::string_view function) {
  for (const OperatorSignature& row : operators)
    if (row.other_name == function || signature_of(row.operation).name == function)
      return std::string(row.symbol);
  return "";
}

bool is_reserved_name(std::string_view name) {
  return name == "y" || name == "inf" || name == "nan" || name == "return" ||
         find_function(name) != nullptr || find_reduction(name) != nullptr ||
         find_composite(name) != nullptr;
}

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const OperationSignature& row : operations())
    if (!row.is_operator) names.push_back(row.name);
  for (const Alias& row : aliases()) names.push_back(row.alias);
  for (const ReductionSignature& row : reductions())
    if (find_function(row.name) == nullptr) names.push_back(row.name);
  for (const CompositeSignature& row : composites()) names.push_back(row.name);
  return names;
}

std::string closest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = 3;
  // A name of a hundred letters is no slip of the keyboard, and the distance is quadratic.
  if (name.size() > 64) return best;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance && distance < name.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace detail
}  // namespace postlude
