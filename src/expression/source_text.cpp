#include "expression/source_text.hpp"

#include <algorithm>

namespace postlude {
namespace detail {

std::string with_caret(const std::string& message, std::string_view text, SourceSpan span) {
  const std::size_t offset = std::min(span.offset, text.size());
  std::size_t line_begin = 0;
  std::size_t line_number = 1;
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      line_begin = i + 1;
      ++line_number;
    }
  }
  const std::size_t line_end = std::min(text.find('\n', offset), text.size());
  const std::size_t column = offset - line_begin;

  constexpr std::size_t before = 40;
  constexpr std::size_t window = 76;
  const std::size_t shown_begin = column > before ? offset - before : line_begin;
  const std::size_t shown_end = std::min(line_end, shown_begin + window);
  const std::string prefix = shown_begin > line_begin ? "..." : "";
  const std::string suffix = shown_end < line_end ? "..." : "";
  std::string line(text.substr(shown_begin, shown_end - shown_begin));
  // Control characters would move the caret or the terminal's cursor.
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  const std::size_t caret = prefix.size() + (offset - shown_begin);
  const std::size_t marked =
      std::max<std::size_t>(1, std::min(span.length, shown_end > offset ? shown_end - offset : 1));

  return message + " (line " + std::to_string(line_number) + ", column " +
         std::to_string(column + 1) + ")\n  " + prefix + line + suffix + "\n  " +
         std::string(caret, ' ') + '^' + std::string(marked - 1, '~');
}

void fail_at(Status status, const std::string& message, std::string_view text, SourceSpan span) {
  throw Error(status, text.empty() ? message : with_caret(message, text, span));
}

}  // namespace detail
}  // namespace postlude
