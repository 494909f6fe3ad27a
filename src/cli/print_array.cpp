#include "print_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli_error.hpp"
#include "element_type.hpp"
#include "small_floats.hpp"

namespace postlude {
namespace cli {
namespace {

constexpr std::int64_t largest_whole = 1000;
constexpr std::int64_t edge = 3;
constexpr std::int64_t gap = -1;

// The indices to show, with `gap` where some are left out.
std::vector<std::int64_t> shown(std::int64_t extent, bool is_abridged) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (is_abridged && extent > 2 * edge && i == edge) {
      indices.push_back(gap);
      i = extent - edge;
    }
    indices.push_back(i);
  }
  return indices;
}

template <class T>
std::string number_text(T value) {
  return std::isnan(value) ? "nan"
                           : fmt::format("{:.6g}", value);  // not "-nan", as 0 / 0 is on x86
}

std::string element_text(const postlude_tensor& tensor, std::int64_t row, std::int64_t column) {
  const std::int64_t offset = row * tensor.stride[0] + column * tensor.stride[1];
  switch (tensor.dtype) {
    case POSTLUDE_FLOAT64:
      return number_text(static_cast<const double*>(tensor.data)[offset]);
    case POSTLUDE_INT64:
      return fmt::format("{}", static_cast<const std::int64_t*>(tensor.data)[offset]);
    case POSTLUDE_FLOAT32:
      return number_text(static_cast<const float*>(tensor.data)[offset]);
    case POSTLUDE_FLOAT16:
      return number_text(value_of_float16(static_cast<const std::uint16_t*>(tensor.data)[offset]));
    default:
      throw CliError(fmt::format("{} elements are not printed", element_name(tensor.dtype)));
  }
}

}  // namespace

std::string array_text(const postlude_tensor& tensor) {
  const std::int64_t rows = tensor.extent[0];
  const std::int64_t columns = tensor.extent[1];
  if (rows == 0 || columns == 0) return "[]";
  const bool is_abridged = rows > largest_whole / columns;
  const std::vector<std::int64_t> row_indices = shown(rows, is_abridged);
  const std::vector<std::int64_t> column_indices = shown(columns, is_abridged);

  std::vector<std::string> words;
  std::size_t width = 0;
  for (const std::int64_t row : row_indices) {
    for (const std::int64_t column : column_indices) {
      if (row == gap || column == gap) continue;
      words.push_back(element_text(tensor, row, column));
      width = std::max(width, words.back().size());
    }
  }

  std::string text = "[";
  auto word = words.cbegin();
  for (const std::int64_t row : row_indices) {
    if (text.size() > 1) text += "\n ";
    if (row == gap) {
      text += "...";
      continue;
    }
    text += '[';
    bool is_first = true;
    for (const std::int64_t column : column_indices) {
      if (!is_first) text += ' ';
      is_first = false;
      text += column == gap ? "..." : fmt::format("{:>{}}", *word++, width);
    }
    text += ']';
  }
  return text + "]";
}

}  // namespace cli
}  // namespace postlude
