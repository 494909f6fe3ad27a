#include "program/constant_value.hpp"

#include "evaluator/formulas.hpp"
#include "expression/signature.hpp"

namespace postlude {
namespace detail {
namespace {

template <class T>
T apply_formula(Operation operation, const T* v) {
  switch (operation) {
#define POSTLUDE_INPUTS_1 v[0]
#define POSTLUDE_INPUTS_2 v[0], v[1]
#define POSTLUDE_INPUTS_3 v[0], v[1], v[2]
#define POSTLUDE_CASE(name, arity, signature, text) \
  case Operation::name:                             \
    return formula::name(POSTLUDE_INPUTS_##arity);
    POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_CASE)
    POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
#undef POSTLUDE_INPUTS_3
#undef POSTLUDE_INPUTS_2
#undef POSTLUDE_INPUTS_1
  }
  return T(0);
}

}  // namespace

double rounded_constant(double value, DataType arithmetic) {
  return arithmetic == DataType::float64 ? value : static_cast<double>(static_cast<float>(value));
}

double constant_result(Operation operation, const double* inputs, DataType arithmetic) {
  if (arithmetic == DataType::float64) return apply_formula(operation, inputs);
  float rounded[3] = {};
  for (int i = 0; i < signature_of(operation).arity; ++i)
    rounded[i] = static_cast<float>(inputs[i]);
  return static_cast<double>(apply_formula(operation, rounded));
}

}  // namespace detail
}  // namespace postlude
