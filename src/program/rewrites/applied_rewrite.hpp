#ifndef POSTLUDE_PROGRAM_REWRITES_APPLIED_REWRITE_HPP
#define POSTLUDE_PROGRAM_REWRITES_APPLIED_REWRITE_HPP

#include <string>

namespace postlude {
namespace detail {

/// One use of a rewrite.
struct AppliedRewrite {
  std::string name;
  std::string before;  ///< the value as an expression
  std::string after;
  std::string reason;
  std::string saved;  ///< "" where an operation became a simpler one
};

}  // namespace detail
}  // namespace postlude

#endif
