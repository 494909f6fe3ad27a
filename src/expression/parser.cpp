#include "expression/parser.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "expression/call.hpp"
#include "expression/lexer.hpp"
#include "expression/node.hpp"
#include "expression/signature.hpp"

namespace postlude {
namespace detail {
namespace {

/// Deepest nesting of parentheses, calls and signs, which the parser follows by recursion.
constexpr int maximum_nesting = 200;

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text), tokens_(tokenize(text)) {}

  std::vector<Epilogue::Result> program() {
    skip_line_ends();
    if (peek().kind == TokenKind::end_of_text)
      fail("the expression is empty: expected at least one statement", peek());
    std::vector<Epilogue::Result> results;
    while (peek().kind != TokenKind::end_of_text) {
      if (!results.empty()) fail("nothing may follow the return statement", peek());
      results = statement();
      skip_line_ends();
    }
    return results;
  }

 private:
  [[noreturn]] void fail(const std::string& message, const Token& token) const {
    fail_at(Status::syntax_error, message, text_, span_of(token));
  }

  static SourceSpan span_of(const Token& token) { return {token.offset, token.text.size()}; }

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
  }

  bool at_symbol(std::string_view symbol, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::symbol && peek(ahead).text == symbol;
  }
  bool take_symbol(std::string_view symbol) {
    if (!at_symbol(symbol)) return false;
    ++position_;
    return true;
  }
  void expect_symbol(std::string_view symbol, const std::string& context) {
    if (!take_symbol(symbol))
      fail("expected '" + std::string(symbol) + "' " + context + ", found " + describe(peek()),
           peek());
  }

  static std::string describe(const Token& token) {
    switch (token.kind) {
      case TokenKind::end_of_text:
        return "the end of the expression";
      case TokenKind::end_of_statement:
        return "the end of the statement";
      default:
        return "'" + std::string(token.text.substr(0, 32)) + "'";
    }
  }

  void skip_line_ends() {
    while (peek().kind == TokenKind::end_of_statement) ++position_;
  }

  bool at_statement_end() const {
    return peek().kind == TokenKind::end_of_statement || peek().kind == TokenKind::end_of_text;
  }

  /// The results when this was the program's result, else nothing.
  std::vector<Epilogue::Result> statement() {
    const Token first = peek();
    if (first.kind == TokenKind::name && first.text == "return") {
      ++position_;
      return return_list();
    }
    std::string name = "result";
    const bool binds = first.kind == TokenKind::name && at_symbol("=", 1);
    if (binds) {
      if (is_reserved_name(first.text))
        fail("'" + std::string(first.text) + "' is a name of the language and cannot be assigned",
             first);
      position_ += 2;
      name = std::string(first.text);
    }
    const NodePointer value = comparison();
    if (!at_statement_end())
      fail("expected an operator, ';' or the end of the expression, found " + describe(peek()),
           peek());
    if (binds) bindings_[name] = value;

    std::size_t after = position_;
    while (tokens_[after].kind == TokenKind::end_of_statement) ++after;
    if (tokens_[after].kind == TokenKind::end_of_text) return {{name, Expression(value)}};
    if (!binds)
      fail("the value of this statement is never used: name it, or make it the last statement",
           first);
    return {};
  }

  std::vector<Epilogue::Result> return_list() {
    std::vector<Epilogue::Result> results;
    do {
      const Token first = peek();
      const std::size_t begin = position_;
      const NodePointer value = comparison();
      const bool is_name = first.kind == TokenKind::name && position_ == begin + 1;
      const std::string name =
          is_name ? std::string(first.text) : "result" + std::to_string(results.size());
      for (const Epilogue::Result& earlier : results)
        if (earlier.name == name)
          fail("'" + name + "' is returned twice: every result needs a name of its own", first);
      results.push_back({name, Expression(value)});
    } while (take_symbol(","));
    if (!at_statement_end())
      fail("expected ',' or the end of the return statement, found " + describe(peek()), peek());
    return results;
  }

  /// The text from `begin` to the last token taken.
  SourceSpan span_from(std::size_t begin) const {
    const Token& last = tokens_[position_ - 1];
    return {begin, last.offset + last.text.size() - begin};
  }

  NodePointer operation(Operation op, NodePointer a, NodePointer b, std::size_t begin) {
    return make_operation(op, {std::move(a), std::move(b)}, span_from(begin), text_);
  }

  /// The operation of the infix operator that the next token is, if it has this precedence.
  std::optional<Operation> infix_ahead(Precedence precedence) const {
    if (peek().kind != TokenKind::symbol) return std::nullopt;
    const OperatorSignature* found = find_operator(peek().text, 2);
    if (found == nullptr || found->precedence != precedence) return std::nullopt;
    return found->operation;
  }

  /// Operands of one precedence, which groups from the left: a - b - c is (a - b) - c.
  NodePointer from_the_left(Precedence precedence, NodePointer (Parser::*operand)()) {
    const std::size_t begin = peek().offset;
    NodePointer left = (this->*operand)();
    while (const std::optional<Operation> infix = infix_ahead(precedence)) {
      ++position_;
      left = operation(*infix, left, (this->*operand)(), begin);
    }
    return left;
  }

  NodePointer comparison() {
    const std::size_t begin = peek().offset;
    NodePointer left = sum();
    const std::optional<Operation> compared = infix_ahead(Precedence::comparison);
    if (!compared) return left;
    ++position_;
    left = operation(*compared, left, sum(), begin);
    if (infix_ahead(Precedence::comparison))
      fail("comparisons cannot be chained: use parentheses, or multiply two comparisons", peek());
    return left;
  }

  NodePointer sum() { return from_the_left(Precedence::sum, &Parser::product); }
  NodePointer product() { return from_the_left(Precedence::product, &Parser::unary); }

  NodePointer unary() {
    const Nesting nesting(*this);
    const std::size_t begin = peek().offset;
    if (!take_symbol("-")) return power();
    const NodePointer value = unary();
    if (value->kind == NodeKind::constant) return make_constant(-value->constant, span_from(begin));
    return make_operation(Operation::negate, {value}, span_from(begin), text_);
  }

  NodePointer power() {
    const std::size_t begin = peek().offset;
    const NodePointer base = primary();
    if (!take_symbol("**")) return base;
    return operation(Operation::power, base, unary(), begin);
  }

  NodePointer primary() {
    const Token token = peek();
    if (token.kind == TokenKind::number) {
      ++position_;
      return make_constant(token.number, span_of(token));
    }
    if (take_symbol("(")) {
      const NodePointer value = comparison();
      expect_symbol(")", "to close '('");
      return value;
    }
    if (token.kind != TokenKind::name || token.text == "return")
      fail("expected a value, found " + describe(token), token);
    ++position_;
    if (at_symbol("(")) return call(token);
    return name(token);
  }

  NodePointer name(const Token& token) const {
    const SourceSpan span = span_of(token);
    const std::string text(token.text);
    if (const auto bound = bindings_.find(text); bound != bindings_.end()) return bound->second;
    if (text == "y") return make_gemm_result(span);
    if (text == "inf") return make_constant(std::numeric_limits<double>::infinity(), span);
    if (text == "nan") return make_constant(std::numeric_limits<double>::quiet_NaN(), span);
    if (is_reserved_name(text)) fail("'" + text + "' is a function: expected '(' after it", token);
    return make_operand(text, span);
  }

  std::vector<ArgumentNode> arguments() {
    std::vector<ArgumentNode> list;
    expect_symbol("(", "before the arguments");
    if (take_symbol(")")) return list;
    do {
      ArgumentNode argument;
      if (peek().kind == TokenKind::name && at_symbol("=", 1)) {
        argument.keyword = std::string(peek().text);
        argument.keyword_span = span_of(peek());
        position_ += 2;
      } else if (!list.empty() && !list.back().keyword.empty()) {
        fail("a positional argument cannot follow one given by keyword", peek());
      }
      argument.value = comparison();
      list.push_back(std::move(argument));
    } while (take_symbol(","));
    expect_symbol(")", "after the arguments");
    return list;
  }

  NodePointer call(const Token& function) {
    const std::string name(function.text);
    const SourceSpan name_span = span_of(function);
    // Before the arguments, so that a misspelt name is what a wrong call is blamed on.
    require_function(name, name_span, text_);
    Call call{name, name_span, arguments(), {}};
    call.span = span_from(function.offset);
    return make_call(call, text_);
  }

  /// Counts the recursion while it is alive.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > maximum_nesting)
        parser_.fail("more than " + std::to_string(maximum_nesting) + " levels of nesting",
                     parser_.peek());
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  const std::string& text_;
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  int nesting_ = 0;
  std::map<std::string, NodePointer> bindings_;
};

}  // namespace

std::vector<Epilogue::Result> parse(const std::string& text) { return Parser(text).program(); }

}  // namespace detail
}  // namespace postlude
