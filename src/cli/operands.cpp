#include "operands.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "cli_error.hpp"
#include "handles.hpp"
#include "npy.hpp"

namespace postlude {
namespace cli {
namespace {

constexpr std::array<std::pair<const char*, postlude_operand_kind>, 5> random_kinds{{
    {"scalar", POSTLUDE_SCALAR},
    {"row", POSTLUDE_ROW},
    {"col", POSTLUDE_COLUMN},
    {"full", POSTLUDE_MATRIX},
    {"element", POSTLUDE_ELEMENT},
}};

bool is_name(const std::string& text) {
  const std::string first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return !text.empty() && first.find(text[0]) != std::string::npos &&
         text.find_first_not_of(first + "0123456789") == std::string::npos;
}

}  // namespace

Definition parse_definition(const std::string& text) {
  Definition definition;
  const std::size_t equals = text.find('=');
  const auto expected = [&](const std::string& fault) {
    return CliError(
        fmt::format("-D '{}': {}; expected name=NUMBER, name=FILE.npy or "
                    "name=random:KIND",
                    text, fault));
  };
  if (equals == std::string::npos) throw expected("there is no '='");
  definition.name = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  if (!is_name(definition.name)) throw expected(fmt::format("'{}' is no name", definition.name));
  if (value.empty()) throw expected("there is no value");

  char* end = nullptr;
  errno = 0;
  definition.number = std::strtod(value.c_str(), &end);
  if (*end == '\0') {
    if (errno == ERANGE && std::isinf(definition.number))
      throw expected("the number does not fit into float64 (write inf for infinity)");
    return definition;
  }

  const std::string random = "random:";
  if (value.compare(0, random.size(), random) == 0) {
    definition.source = Definition::Source::random;
    const std::string name = value.substr(random.size());
    for (const auto& [known, kind] : random_kinds) {
      if (name == known) {
        definition.kind = kind;
        return definition;
      }
    }
    throw CliError(fmt::format(
        "-D '{}': '{}' is no kind; expected random:scalar, row, col, full or element", text, name));
  }

  definition.source = Definition::Source::file;
  definition.path = value;
  return definition;
}

postlude_operand_kind operand_kind(const std::string& path, const std::vector<std::int64_t>& shape,
                                   std::int64_t batch, std::int64_t out_features) {
  const auto mismatch = [&](const std::string& hint) {
    return CliError(fmt::format(
        "'{}' has shape {}; expected {} to fit y, which is {} x {}{}", path, shape_text(shape),
        fmt::format("(), (1,), ({1},), (1, {1}), ({0}, 1) or ({0}, {1})", batch, out_features),
        batch, out_features, hint));
  };
  if (shape.size() > 2) throw mismatch("");
  // NumPy pads missing leading dimensions with 1.
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  const std::int64_t rows = shape.size() < 2 ? 1 : shape.front();
  if (rows == 1 && columns == 1) return POSTLUDE_ELEMENT;
  if (rows == 1 && columns == out_features) return POSTLUDE_ROW;
  if (columns == 1 && rows == batch) return POSTLUDE_COLUMN;
  if (rows == batch && columns == out_features) return POSTLUDE_MATRIX;
  throw mismatch(shape.size() == 1 && columns == batch
                     ? fmt::format(". A vector is a row; for a column give it the shape ({}, 1) "
                                   "with .reshape(-1, 1)",
                                   batch)
                     : "");
}

postlude_tensor operand_tensor(postlude_operand_kind kind, postlude_dtype dtype, std::int64_t batch,
                               std::int64_t out_features, postlude_layout layout) {
  postlude_tensor tensor = POSTLUDE_TENSOR_INIT;
  if (kind == POSTLUDE_MATRIX) {
    require(postlude_tensor_matrix(&tensor, nullptr, dtype, batch, out_features, layout,
                                   POSTLUDE_HOST));
    return tensor;
  }
  const std::int64_t elements = kind == POSTLUDE_ROW      ? out_features
                                : kind == POSTLUDE_COLUMN ? batch
                                                          : 1;
  require(postlude_tensor_vector(&tensor, nullptr, dtype, elements, POSTLUDE_HOST));
  return tensor;
}

}  // namespace cli
}  // namespace postlude
