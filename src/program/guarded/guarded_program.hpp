#ifndef POSTLUDE_PROGRAM_GUARDED_GUARDED_PROGRAM_HPP
#define POSTLUDE_PROGRAM_GUARDED_GUARDED_PROGRAM_HPP

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <postlude/data_type.hpp>

#include "program/program.hpp"
#include "program/rewrites/applied_rewrite.hpp"

namespace postlude {
namespace detail {

/// A program without y that gives the same results as another one as long as y and some operands
/// are numbers of magnitude at most `limit`, none of them NaN: whoever runs it has to prove that
/// first.
struct GuardedProgram {
  /// Its operands are those of the other program, and behind them the sums of y that it needs.
  Program program;
  double limit = 0;
  /// Operands that the limit holds for; the others may be anything.
  std::vector<std::size_t> bounded_operands;
  int sum_over_columns = -1;  ///< the operand that is y summed over dim 1 (batch x M x 1), or -1
  int sum_over_rows = -1;     ///< the operand that is y summed over dim 0 (batch x 1 x N), or -1
  std::vector<AppliedRewrite> applied;
};

/// The guarded program of `program`, which was rewritten already, if there is one.
///
/// Two rewrites make it, each of which can be left out by its name:
/// - vanishing_differences: v - v, and v - (v + 0), is 0 for finite v. It comes of a mean over one
///   element.
/// - sums_of_products: the sum, or mean, over a dimension of an affine function of y is one of the
/// sum
///   of y, and that is the product of x and the sums of w, or of the sums of x and w.
/// What they are not proved for, NaN and infinities, is what `limit` excludes: with it, interval
/// arithmetic shows that v, or every partial sum, is finite in both programs.
std::optional<GuardedProgram> find_guarded_program(const Program& program, DataType arithmetic,
                                                   const std::set<std::string>& without);

}  // namespace detail
}  // namespace postlude

#endif
