#ifndef POSTLUDE_EXPRESSION_SOURCE_TEXT_HPP
#define POSTLUDE_EXPRESSION_SOURCE_TEXT_HPP

#include <cstddef>
#include <string>
#include <string_view>

#include <postlude/error.hpp>

namespace postlude {
namespace detail {

/// `message` followed by the place in `text` and its line with a caret under `offset`:
///
///     unknown function 'rleu'; did you mean 'relu'? (line 1, column 5)
///       max(rleu(y), 0)
///           ^~~~
///
/// A long line is cut to a window around the fault, so that a megabyte of text gives a short
/// message.
std::string with_caret(const std::string& message, std::string_view text, std::size_t offset,
                       std::size_t length);

[[noreturn]] void fail_at(Status status, const std::string& message, std::string_view text,
                          std::size_t offset, std::size_t length);

}  // namespace detail
}  // namespace postlude

#endif
