#include "shape.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "cli_error.hpp"
#include "element_type.hpp"

namespace postlude {
namespace cli {

Shape parse_shape(const std::string& text) {
  const std::string expected =
      "expected three non-negative integers M,K,N (batch, in_features, out_features), for example "
      "--shape 128,16384,16384";
  std::array<std::int64_t, 3> extent{};
  const char* position = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < extent.size(); ++i) {
    if (i > 0) {
      if (position == end || *position != ',')
        throw CliError(fmt::format("--shape '{}': {}", text, expected));
      ++position;
    }
    const auto [next, fault] = std::from_chars(position, end, extent[i]);
    if (fault == std::errc::result_out_of_range)
      throw CliError(
          fmt::format("--shape '{}': a size does not fit into 64 bits; {}", text, expected));
    if (fault != std::errc() || extent[i] < 0)
      throw CliError(fmt::format("--shape '{}': {}", text, expected));
    position = next;
  }
  if (position != end) throw CliError(fmt::format("--shape '{}': {}", text, expected));

  const Shape shape{extent[0], extent[1], extent[2]};
  matrix_bytes(shape.batch, shape.in_features, POSTLUDE_FLOAT64, "x");
  matrix_bytes(shape.out_features, shape.in_features, POSTLUDE_FLOAT64, "w");
  matrix_bytes(shape.batch, shape.out_features, POSTLUDE_FLOAT64, "y");
  return shape;
}

std::size_t matrix_bytes(std::int64_t rows, std::int64_t columns, postlude_dtype dtype,
                         const std::string& what) {
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, columns, &elements) ||
      __builtin_mul_overflow(elements, static_cast<std::int64_t>(element_bytes(dtype)), &bytes))
    throw CliError(fmt::format("{} of {} x {} elements is larger than memory can address", what,
                               rows, columns));
  return static_cast<std::size_t>(bytes);
}

}  // namespace cli
}  // namespace postlude
