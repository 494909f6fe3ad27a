#ifndef POSTLUDE_EXPRESSION_PARSER_HPP
#define POSTLUDE_EXPRESSION_PARSER_HPP

#include <string>
#include <vector>

#include <postlude/expression.hpp>

namespace postlude {
namespace detail {

/// Parses a program of the epilogue language; see Epilogue for the grammar and the errors.
std::vector<Epilogue::Result> parse(const std::string& text);

}  // namespace detail
}  // namespace postlude

#endif
