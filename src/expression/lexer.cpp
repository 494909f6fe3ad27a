#include "expression/lexer.hpp"

#include <charconv>
#include <string>

#include "expression/source_text.hpp"

namespace postlude {
namespace detail {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t symbol_length(std::string_view rest) {
  for (const std::string_view two : {"**", "<=", ">=", "==", "!="})
    if (rest.substr(0, 2) == two) return 2;
  return std::string_view("+-*/()=,<>").find(rest[0]) == std::string_view::npos ? 0 : 1;
}

std::string quoted(char c) {
  const auto code = static_cast<unsigned char>(c);
  if (code >= 0x20 && code < 0x7f) return std::string("'") + c + "'";
  static const char digits[] = "0123456789abcdef";
  return std::string("byte 0x") + digits[code >> 4] + digits[code & 15];
}

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t open_parentheses = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    const std::size_t begin = at;
    if (c == '#') {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (c == '\n' || c == ';') {
      ++at;
      if (c == ';' || open_parentheses == 0)
        tokens.push_back({TokenKind::end_of_statement, text.substr(begin, 1), begin});
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
    } else if (is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
      double value = 0;
      const char* last = text.data() + text.size();
      const std::from_chars_result parsed = std::from_chars(text.data() + at, last, value);
      at = static_cast<std::size_t>(parsed.ptr - text.data());
      const bool runs_on =
          at < text.size() && (is_letter(text[at]) || is_digit(text[at]) || text[at] == '.');
      if (parsed.ec == std::errc::result_out_of_range)
        fail_at(Status::syntax_error, "this number is outside the range of float64", text,
                {begin, at - begin});
      if (parsed.ec != std::errc() || runs_on) {
        while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]) || text[at] == '.'))
          ++at;
        fail_at(Status::syntax_error, "this is not a number", text, {begin, at - begin});
      }
      tokens.push_back({TokenKind::number, text.substr(begin, at - begin), begin, value});
    } else if (is_letter(c)) {
      while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]))) ++at;
      tokens.push_back({TokenKind::name, text.substr(begin, at - begin), begin});
    } else if (const std::size_t length = symbol_length(text.substr(at))) {
      at += length;
      if (c == '(') ++open_parentheses;
      if (c == ')' && open_parentheses > 0) --open_parentheses;
      tokens.push_back({TokenKind::symbol, text.substr(begin, length), begin});
    } else {
      fail_at(Status::syntax_error, "unexpected " + quoted(c), text, {begin, 1});
    }
  }
  tokens.push_back({TokenKind::end_of_text, text.substr(text.size()), text.size()});
  return tokens;
}

}  // namespace detail
}  // namespace postlude
