#ifndef POSTLUDE_PROGRAM_GUARDED_SUM_OF_PRODUCTS_HPP
#define POSTLUDE_PROGRAM_GUARDED_SUM_OF_PRODUCTS_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "program/rewrites/rewrite_builder.hpp"

namespace postlude {
namespace detail {

/// Sums over one dimension of values that are affine in y, made of the sum of y.
///
/// Rule: sum(a + b) = sum(a) + sum(b), sum(a - b), sum(-a); sum(a * s) = sum(a) * s and sum(a / s)
/// = sum(a) / s for s that is one number along the dimension; sum(s) = n s. What is not made of y
/// is reduced as it is. Proof: these are equalities of real numbers. In floating point they differ
/// by rounding, at most a few units of the sum of magnitudes, as long as nothing overflows, which
/// the guard has to exclude.
class SumOfProducts {
 public:
  /// Over dimension `dim` of `count` elements; `sum_of_y` gives the value that is the sum of y.
  SumOfProducts(RewriteBuilder& builder, int dim, std::int64_t count, std::function<int()> sum_of_y)
      : builder_(builder), dim_(dim), count_(count), sum_of_y_(std::move(sum_of_y)) {}

  /// The sum of value `index`; none where it is not affine.
  std::optional<int> of(int index);

 private:
  std::optional<int> make(int index);
  int plain_sum(int index);
  std::int64_t extent(int index) const;

  RewriteBuilder& builder_;
  int dim_;
  std::int64_t count_;
  std::function<int()> sum_of_y_;
  std::map<int, std::optional<int>> known_;
};

/// Which values of a program are computed from y.
std::vector<bool> values_from_y(const Program& program);

}  // namespace detail
}  // namespace postlude

#endif
