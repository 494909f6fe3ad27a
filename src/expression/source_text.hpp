#ifndef POSTLUDE_EXPRESSION_SOURCE_TEXT_HPP
#define POSTLUDE_EXPRESSION_SOURCE_TEXT_HPP

#include <cstddef>
#include <string>
#include <string_view>

#include <postlude/error.hpp>

namespace postlude {
namespace detail {

/// Where something stands in the text of its epilogue; `length` 0 when it was built by C++
/// operators.
struct SourceSpan {
  std::size_t offset = 0;
  std::size_t length = 0;
};

/// `message` followed by the place in `text` and its line with a caret under `offset`:
///
///     unknown function 'rleu'; did you mean 'relu'? (line 1, column 5)
///       max(rleu(y), 0)
///           ^~~~
///
/// A long line is cut to a window around the fault, so that a megabyte of text gives a short
/// message.
std::string with_caret(const std::string& message, std::string_view text, SourceSpan span);

/// Throws the Error, with the place in `text` unless that is empty, as it is for an expression that
/// was built by C++ operators.
[[noreturn]] void fail_at(Status status, const std::string& message, std::string_view text,
                          SourceSpan span);

}  // namespace detail
}  // namespace postlude

#endif
