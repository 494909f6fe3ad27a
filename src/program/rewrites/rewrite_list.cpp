#include "program/rewrites/rewrite.hpp"

namespace postlude {
namespace detail {

const std::vector<Rewrite>& rewrite_list() {
  static const std::vector<Rewrite> list = {
      {"constants", "operations of constants are computed once", fold_constants},
      {"arithmetic", "v * 1, v / 1, v - 0, -(-v), a + (-b), v / 4 and their like",
       simplify_arithmetic},
      {"powers", "v ** 0, v ** 1, v ** 2, v ** -1 and 1 ** v", simplify_power},
      {"repetition", "abs(abs(v)), floor(round(v)), min(v, v) and their like", drop_repetition},
      {"selection", "where with a known condition or equal branches, NaN among the inputs",
       choose_branch},
      {"clamps", "a clamp of a clamp is one clamp; min, max, relu and hardtanh are clamps",
       merge_clamps},
      {"size_one_reductions", "a reduction over one element", fold_size_one_reduction},
      {"softmax_sums", "sum(exp(v - max(v))) along rows is found in one sweep with the maximum",
       merge_softmax_sum},
      {"ranges", "what the possible values of an input decide: relu(sigmoid(v)) is sigmoid(v)",
       use_range},
      {"common_subexpressions", "equal values are computed once", nullptr},
      {"dead_values", "what no result needs is not computed", nullptr},
      {"vanishing_differences", "v - v is 0, in executions for which v is proved finite", nullptr},
      {"sums_of_products",
       "sums of y without y, in executions for which nothing can overflow on the way", nullptr}};
  return list;
}

}  // namespace detail
}  // namespace postlude
