#ifndef POSTLUDE_EXPRESSION_CALL_HPP
#define POSTLUDE_EXPRESSION_CALL_HPP

#include <string>
#include <vector>

#include "expression/node.hpp"

namespace postlude {
namespace detail {

struct ArgumentNode {
  std::string keyword;  ///< empty for a positional argument
  SourceSpan keyword_span;
  NodePointer value;
};

/// A function of the language applied to arguments, written in a text or built call by call.
struct Call {
  std::string function;
  SourceSpan function_span;
  std::vector<ArgumentNode> arguments;  ///< positional ones first
  SourceSpan span;
};

/// Throws Error(unknown_name), with the closest name, unless a function is called so.
void require_function(const std::string& name, SourceSpan span, const std::string& text);

/// The node of a call. Throws Error(unknown_name) for the function or a keyword,
/// Error(syntax_error) for wrong arguments and Error(invalid_argument) for numbers out of range,
/// with the place in `text` unless that is empty.
NodePointer make_call(const Call& call, const std::string& text);

}  // namespace detail
}  // namespace postlude

#endif
