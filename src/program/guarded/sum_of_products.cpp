#include "program/guarded/sum_of_products.hpp"

#include <algorithm>

namespace postlude {
namespace detail {

std::vector<bool> values_from_y(const Program& program) {
  std::vector<bool> from_y;
  for (const Value& value : program.values)
    from_y.push_back(value.kind == NodeKind::gemm_result ||
                     std::any_of(value.inputs.begin(), value.inputs.end(), [&](int input) {
                       return from_y[static_cast<std::size_t>(input)];
                     }));
  return from_y;
}

std::int64_t SumOfProducts::extent(int index) const {
  const Shape& shape = builder_.value(index).shape;
  return dim_ == 0 ? shape.rows : shape.columns;
}

int SumOfProducts::plain_sum(int index) {
  Value sum;
  sum.kind = NodeKind::reduction;
  sum.reduction = Reduction::sum;
  sum.dim = dim_;
  sum.inputs = {index};
  sum.shape = reduced_shape(Reduction::sum, builder_.value(index).shape, dim_);
  return builder_.add(std::move(sum));
}

std::optional<int> SumOfProducts::of(int index) {
  const auto known = known_.find(index);
  if (known != known_.end()) return known->second;
  const std::optional<int> sum = make(index);
  known_.emplace(index, sum);
  return sum;
}

std::optional<int> SumOfProducts::make(int index) {
  const Value value = builder_.value(index);
  if (extent(index) == 1)
    return builder_.pointwise(Operation::multiply,
                              {index, builder_.constant(static_cast<double>(count_))});
  if (value.kind == NodeKind::gemm_result) return sum_of_y_();
  if (!values_from_y(builder_.program())[static_cast<std::size_t>(index)]) return plain_sum(index);
  if (value.kind != NodeKind::pointwise) return std::nullopt;
  switch (value.operation) {
    case Operation::add:
    case Operation::subtract: {
      const std::optional<int> left = of(value.inputs[0]);
      const std::optional<int> right = of(value.inputs[1]);
      if (!left || !right) return std::nullopt;
      return builder_.pointwise(value.operation, {*left, *right});
    }
    case Operation::negate: {
      const std::optional<int> sum = of(value.inputs[0]);
      if (!sum) return std::nullopt;
      return builder_.pointwise(Operation::negate, {*sum});
    }
    case Operation::multiply:
    case Operation::divide: {
      const bool scales_left = extent(value.inputs[1]) == 1;
      if (!scales_left && (value.operation == Operation::divide || extent(value.inputs[0]) != 1))
        return std::nullopt;
      const std::optional<int> sum = of(value.inputs[scales_left ? 0 : 1]);
      if (!sum) return std::nullopt;
      return builder_.pointwise(value.operation, {*sum, value.inputs[scales_left ? 1 : 0]});
    }
    default:
      return std::nullopt;
  }
}

}  // namespace detail
}  // namespace postlude
