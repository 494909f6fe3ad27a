#ifndef POSTLUDE_CLI_OPERANDS_HPP
#define POSTLUDE_CLI_OPERANDS_HPP

#include <postlude.h>

#include <cstdint>
#include <string>
#include <vector>

namespace postlude {
namespace cli {

/// One -D name=VALUE.
struct Definition {
  enum class Source { number, random, file };

  std::string name;
  Source source = Source::number;
  double number = 0;
  /// Of a random operand; for a file it follows from the file's shape.
  postlude_operand_kind kind = POSTLUDE_SCALAR;
  std::string path;
};

/// Reads "name=VALUE". A VALUE that is a number is one, whatever files exist; "random:KIND" is
/// random; everything else is the path of a file. Throws CliError.
Definition parse_definition(const std::string& text);

/// The kind of an operand that is read from a file, by the rules of NumPy's broadcasting against
/// y (batch x out_features): one element is an element, a vector or 1 x N is a row, M x 1 is a
/// column, M x N is a matrix. A row is preferred to a matrix when M = 1, a column when N = 1.
/// Throws CliError when the shape does not fit.
postlude_operand_kind operand_kind(const std::string& path, const std::vector<std::int64_t>& shape,
                                   std::int64_t batch, std::int64_t out_features);

/// The tensor of an operand of `kind`: dense, without data.
postlude_tensor operand_tensor(postlude_operand_kind kind, postlude_dtype dtype, std::int64_t batch,
                               std::int64_t out_features, postlude_layout layout);

}  // namespace cli
}  // namespace postlude

#endif
