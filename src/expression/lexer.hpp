#ifndef POSTLUDE_EXPRESSION_LEXER_HPP
#define POSTLUDE_EXPRESSION_LEXER_HPP

#include <cstddef>
#include <string_view>
#include <vector>

namespace postlude {
namespace detail {

enum class TokenKind { number, name, symbol, end_of_statement, end_of_text };

struct Token {
  TokenKind kind;
  std::string_view text;  ///< a view of the source text
  std::size_t offset;
  double number = 0;
};

/// Cuts the text into tokens, the last of which is end_of_text. Line ends inside parentheses and
/// comments are dropped; `;` and other line ends become end_of_statement.
/// Throws Error(syntax_error) for a character or number that the language does not have.
std::vector<Token> tokenize(std::string_view text);

}  // namespace detail
}  // namespace postlude

#endif
