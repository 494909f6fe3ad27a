#include "program/product_factors.hpp"

#include <utility>

namespace postlude {
namespace detail {

Program with_product_factors(const Program& program) {
  Program result = program;
  result.values.clear();
  const auto add = [&](Value value) {
    result.values.push_back(std::move(value));
    return static_cast<int>(result.values.size()) - 1;
  };
  const auto times_factors = [&](int product, int dim, const Shape& shape) {
    Value factors;
    factors.kind = NodeKind::gemm_factors;
    factors.dim = dim;
    factors.shape = shape;
    Value scaled;
    scaled.kind = NodeKind::pointwise;
    scaled.operation = Operation::multiply;
    scaled.inputs = {product, add(factors)};
    scaled.shape = program.y;
    return add(scaled);
  };
  std::vector<int> places;
  for (Value value : program.values) {
    for (int& input : value.inputs) input = places[static_cast<std::size_t>(input)];
    const bool is_product = value.kind == NodeKind::gemm_result;
    int place = add(std::move(value));
    if (is_product) {
      place = times_factors(place, 0, {program.y.batch, program.y.rows, 1});
      place = times_factors(place, 1, {program.y.batch, 1, program.y.columns});
    }
    places.push_back(place);
  }
  for (ProgramResult& each : result.results)
    each.value = places[static_cast<std::size_t>(each.value)];
  return result;
}

}  // namespace detail
}  // namespace postlude
