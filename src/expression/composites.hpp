#ifndef POSTLUDE_EXPRESSION_COMPOSITES_HPP
#define POSTLUDE_EXPRESSION_COMPOSITES_HPP

#include <string>
#include <vector>

#include "expression/node.hpp"
#include "expression/signature.hpp"

namespace postlude {
namespace detail {

/// Writes a composite function with the operations and reductions of the table. `arguments` has one
/// entry per parameter of the signature, null for an optional one that was left out.
/// Throws Error(syntax_error, invalid_argument) for a number that is none or out of range.
NodePointer expand(Composite composite, const std::vector<NodePointer>& arguments, SourceSpan span,
                   const std::string& text);

/// Whether a number can be the seed of random numbers.
bool is_valid_seed(double value);

/// The value of a node that must be a number; `what` names the parameter for the message.
double constant_of(const Node& node, const std::string& what, const std::string& text);

/// A reduction's dimension, 0 or 1, from 0, 1, -2 or -1.
int dimension_of(const Node& node, const std::string& text);

}  // namespace detail
}  // namespace postlude

#endif
