#ifndef POSTLUDE_PROGRAM_REWRITES_REWRITE_HPP
#define POSTLUDE_PROGRAM_REWRITES_REWRITE_HPP

#include <optional>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "program/rewrites/applied_rewrite.hpp"
#include "program/rewrites/rewrite_builder.hpp"

namespace postlude {
namespace detail {

/// What a rule puts in the place of a value.
struct Replacement {
  int value = -1;      ///< in the builder; where its shape is smaller, it is broadcast
  const char* reason;  ///< why the two are the same, for `explain`
};

/// Looks at one value, whose inputs are values of `builder`, and may say it more simply. What it
/// returns must be equal to the value for all inputs, NaN, infinities and signed zeros included, in
/// the builder's arithmetic.
using RewriteRule = std::optional<Replacement> (*)(RewriteBuilder& builder, const Value& value);

/// A rule and the name by which it can be switched off.
struct Rewrite {
  const char* name;
  const char* summary;  ///< for documentation and `explain`
  RewriteRule rule;     ///< null for those that the driver carries out itself
};

// One file each.
std::optional<Replacement> fold_constants(RewriteBuilder& builder, const Value& value);
std::optional<Replacement> simplify_arithmetic(RewriteBuilder& builder, const Value& value);
std::optional<Replacement> simplify_power(RewriteBuilder& builder, const Value& value);
std::optional<Replacement> drop_repetition(RewriteBuilder& builder, const Value& value);
std::optional<Replacement> choose_branch(RewriteBuilder& builder, const Value& value);
std::optional<Replacement> merge_clamps(RewriteBuilder& builder, const Value& value);
std::optional<Replacement> fold_size_one_reduction(RewriteBuilder& builder, const Value& value);
std::optional<Replacement> merge_softmax_sum(RewriteBuilder& builder, const Value& value);
std::optional<Replacement> use_range(RewriteBuilder& builder, const Value& value);

/// Every rewrite, in the order in which they are tried.
const std::vector<Rewrite>& rewrite_list();

}  // namespace detail
}  // namespace postlude

#endif
