#ifndef POSTLUDE_PROGRAM_REWRITES_APPLY_REWRITES_HPP
#define POSTLUDE_PROGRAM_REWRITES_APPLY_REWRITES_HPP

#include <set>
#include <string>
#include <vector>

#include <postlude/data_type.hpp>

#include "program/program.hpp"
#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {

/// The names of rewrites that are left out, from a list that may say "all". Throws
/// Error(unknown_name) for another name, with the closest one.
std::set<std::string> rewrites_left_out(const std::vector<std::string>& names);

/// A program that gives the same results with less work, and how it came about.
struct RewrittenProgram {
  Program program;
  std::vector<AppliedRewrite> applied;
};

/// Applies every rewrite that is not left out until nothing changes. Results keep their order,
/// names, shapes and dtypes, operands their places; `arithmetic` is float32 or float64.
RewrittenProgram apply_rewrites(const Program& program, DataType arithmetic,
                                const std::set<std::string>& without = {});

}  // namespace detail
}  // namespace postlude

#endif
