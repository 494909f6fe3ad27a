#ifndef POSTLUDE_CLI_SHAPE_HPP
#define POSTLUDE_CLI_SHAPE_HPP

#include <postlude.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace postlude {
namespace cli {

/// Sizes of a linear layer: x is batch x in_features, w is out_features x in_features.
struct Shape {
  std::int64_t batch = 0;
  std::int64_t in_features = 0;
  std::int64_t out_features = 0;
};

/// Reads "M,K,N" (batch, in_features, out_features). Throws CliError for anything else and for
/// sizes whose matrices could not be addressed.
Shape parse_shape(const std::string& text);

/// rows * columns * size of an element; throws CliError naming `what` when that overflows.
std::size_t matrix_bytes(std::int64_t rows, std::int64_t columns, postlude_dtype dtype,
                         const std::string& what);

}  // namespace cli
}  // namespace postlude

#endif
