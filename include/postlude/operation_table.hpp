#ifndef POSTLUDE_OPERATION_TABLE_HPP
#define POSTLUDE_OPERATION_TABLE_HPP

#include <cstdint>

/// @file
/// The one table of the language's operations. Everything that must know all of them (parser, C++
/// builder, evaluator, reference, tests, documentation) is generated from these lists.
///
/// A line is X(name, arity, signature, formula):
/// - name: identifier in C++ and in the expression language;
/// - arity: number of inputs after defaults are filled in, 1 to 3;
/// - signature: parameter names with their defaults, as a user may give them by keyword;
/// - formula: what it computes, for messages and documentation.
///
/// All follow IEEE 754 for NaN and Inf, and NaN in the value comes out as NaN. Exceptions:
/// comparisons with NaN are false, `where` takes NaN from the chosen branch only, power is C's pow
/// (1 for NaN ** 0 and 1 ** NaN). Semantics are those of PyTorch's function of that name, where
/// GUIDE.md names no difference.

/// Operations written as operators. They cannot be called by name in an expression text.
#define POSTLUDE_OPERATOR_OPERATIONS(X)         \
  X(add, 2, "a, b", "a + b")                    \
  X(subtract, 2, "a, b", "a - b")               \
  X(multiply, 2, "a, b", "a * b")               \
  X(divide, 2, "a, b", "a / b")                 \
  X(negate, 1, "a", "-a")                       \
  X(power, 2, "a, b", "a ** b, as C's pow")     \
  X(less, 2, "a, b", "a < b ? 1 : 0")           \
  X(less_equal, 2, "a, b", "a <= b ? 1 : 0")    \
  X(greater, 2, "a, b", "a > b ? 1 : 0")        \
  X(greater_equal, 2, "a, b", "a >= b ? 1 : 0") \
  X(equal, 2, "a, b", "a == b ? 1 : 0")         \
  X(not_equal, 2, "a, b", "a != b ? 1 : 0")

/// Pointwise functions.
#define POSTLUDE_FUNCTION_OPERATIONS(X)                                                           \
  X(min, 2, "a, b", "smaller of a and b, NaN if either is NaN")                                   \
  X(max, 2, "a, b", "larger of a and b, NaN if either is NaN")                                    \
  X(clamp, 3, "v, min=-inf, max=inf", "min(max(v, min), max)")                                    \
  X(where, 3, "condition, a, b", "condition != 0 ? a : b")                                        \
  X(abs, 1, "v", "|v|")                                                                           \
  X(sign, 1, "v", "-1, 0 or 1; NaN for NaN")                                                      \
  X(square, 1, "v", "v * v")                                                                      \
  X(sqrt, 1, "v", "square root")                                                                  \
  X(rsqrt, 1, "v", "1 / sqrt(v)")                                                                 \
  X(reciprocal, 1, "v", "1 / v")                                                                  \
  X(exp, 1, "v", "e**v")                                                                          \
  X(expm1, 1, "v", "e**v - 1")                                                                    \
  X(log, 1, "v", "natural logarithm")                                                             \
  X(log1p, 1, "v", "log(1 + v)")                                                                  \
  X(sin, 1, "v", "sine of v radians")                                                             \
  X(cos, 1, "v", "cosine of v radians")                                                           \
  X(erf, 1, "v", "error function")                                                                \
  X(tanh, 1, "v", "hyperbolic tangent")                                                           \
  X(floor, 1, "v", "largest integer not above v")                                                 \
  X(ceil, 1, "v", "smallest integer not below v")                                                 \
  X(round, 1, "v", "nearest integer, ties to even")                                               \
  X(relu, 1, "v", "max(v, 0)")                                                                    \
  X(leaky_relu, 2, "v, negative_slope=0.01", "v > 0 ? v : negative_slope * v")                    \
  X(relu6, 1, "v", "min(max(v, 0), 6)")                                                           \
  X(elu, 2, "v, alpha=1", "v > 0 ? v : alpha * (exp(v) - 1)")                                     \
  X(selu, 1, "v", "1.0507... * (v > 0 ? v : 1.6732... * (exp(v) - 1))")                           \
  X(celu, 2, "v, alpha=1", "max(v, 0) + min(0, alpha * (exp(v / alpha) - 1))")                    \
  X(gelu, 1, "v", "v * Phi(v), Phi the standard normal distribution (erf form)")                  \
  X(gelu_tanh, 1, "v", "v/2 * (1 + tanh(sqrt(2/pi) * (v + 0.044715 v**3)))")                      \
  X(silu, 1, "v", "v / (1 + exp(-v))")                                                            \
  X(sigmoid, 1, "v", "1 / (1 + exp(-v))")                                                         \
  X(logsigmoid, 1, "v", "-log(1 + exp(-v))")                                                      \
  X(softplus, 3, "v, beta=1, threshold=20", "beta v > threshold ? v : log(1 + exp(beta v))/beta") \
  X(softsign, 1, "v", "v / (1 + |v|)")                                                            \
  X(mish, 1, "v", "v * tanh(log(1 + exp(v)))")                                                    \
  X(hardtanh, 3, "v, min=-1, max=1", "min(max(v, min), max)")                                     \
  X(hardswish, 1, "v", "v * min(max(v + 3, 0), 6) / 6")                                           \
  X(hardsigmoid, 1, "v", "min(max(v + 3, 0), 6) / 6")                                             \
  X(threshold, 3, "v, threshold, value", "v > threshold ? v : value")

/// Other names of functions: X(alias, name).
#define POSTLUDE_ALIASES(X) \
  X(swish, silu)            \
  X(minimum, min)           \
  X(maximum, max)

/// Reductions over one dimension, which is kept with size 1. A line is
/// X(name, parameter, default, formula): `parameter` is the keyword of the reduction's one number
/// beside `dim`, "" when it has none.
///
/// All propagate NaN. Sums are accumulated in float64 for float32 problems and compensated
/// (Neumaier) for float64 problems, in an order that depends on the shape and backend only.
#define POSTLUDE_REDUCTIONS(X)                                                               \
  X(sum, "", 0, "sum of the elements; 0 when empty")                                         \
  X(mean, "", 0, "sum divided by the number of elements; NaN when empty")                    \
  X(prod, "", 0, "product; 1 when empty")                                                    \
  X(max, "", 0, "largest element; an error when empty")                                      \
  X(min, "", 0, "smallest element; an error when empty")                                     \
  X(amax, "", 0, "largest absolute value; an error when empty")                              \
  X(logsumexp, "", 0, "log(sum(exp(v))), stable; -inf when empty")                           \
  X(sumexp, "", 0, "sum(exp(v - max(v))): what softmax divides by; 0 when empty")            \
  X(norm, "p", 2, "sum(|v|**p)**(1/p), p > 0, or the largest |v| for p = inf; 0 when empty") \
  X(var, "correction", 1, "sum((v - mean)**2) / max(n - correction, 0)")                     \
  X(std, "correction", 1, "square root of var")                                              \
  X(argmax, "", 0, "index of the first largest element, the first NaN if there is one")      \
  X(argmin, "", 0, "index of the first smallest element, the first NaN if there is one")     \
  X(any, "", 0, "1 if an element is not 0 (NaN counts), else 0")                             \
  X(all, "", 0, "1 if no element is 0, else 0")

/// Functions that are written with the operations above. A line is X(name, signature, formula); a
/// parameter with the default `none` is a value that may be left out. eps, groups, kernel and
/// stride are numbers, the other parameters are values.
#define POSTLUDE_COMPOSITES(X)                                                                  \
  X(softmax, "v, dim", "exp(v - max) / sum(exp(v - max)) over dim")                             \
  X(log_softmax, "v, dim", "v - max - log(sum(exp(v - max))) over dim")                         \
  X(layer_norm, "v, weight=none, bias=none, eps=1e-5",                                          \
    "(v - mean) / sqrt(var + eps) * weight + bias of each row, biased variance")                \
  X(rms_norm, "v, weight=none, eps=1.1920929e-07",                                              \
    "v / sqrt(mean(v**2) + eps) * weight of each row")                                          \
  X(group_norm, "v, groups, weight=none, bias=none, eps=1e-5",                                  \
    "layer_norm of each of `groups` equal parts of each row, then weight and bias")             \
  X(instance_norm, "v, weight=none, bias=none, eps=1e-5",                                       \
    "layer_norm: each row is one instance of one channel")                                      \
  X(batch_norm, "v, mean=none, var=none, weight=none, bias=none, eps=1e-5",                     \
    "(v - mean) / sqrt(var + eps) * weight + bias of each column; mean and biased variance of " \
    "the "                                                                                      \
    "batch when not given")                                                                     \
  X(l2_normalize, "v, dim=1, eps=1e-12", "v / max(norm(v, dim), eps)")                          \
  X(max_pool, "v, kernel, stride=none",                                                         \
    "largest of `kernel` neighbours along dim 1; stride = kernel")                              \
  X(avg_pool, "v, kernel, stride=none",                                                         \
    "mean of `kernel` neighbours along dim 1; stride = kernel")                                 \
  X(dropout, "v, p=0.5, seed=0",                                                                \
    "v * (u < p ? 0 : 1 / (1 - p)), u uniform by Philox 4x32-10 from the seed and the element")

namespace postlude {

/// Every composite function, in the order of the table. Since: 0.1.
enum class Composite : std::uint8_t {
#define POSTLUDE_ENUMERATOR(name, signature, formula) name,
  POSTLUDE_COMPOSITES(POSTLUDE_ENUMERATOR)
#undef POSTLUDE_ENUMERATOR
};

/// Every pointwise operation, in the order of the table. Since: 0.1.
enum class Operation : std::uint8_t {
#define POSTLUDE_ENUMERATOR(name, arity, signature, formula) name,
  POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_ENUMERATOR)
      POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_ENUMERATOR)
#undef POSTLUDE_ENUMERATOR
};

/// Every reduction, in the order of the table. Since: 0.1.
enum class Reduction : std::uint8_t {
#define POSTLUDE_ENUMERATOR(name, parameter, fallback, formula) name,
  POSTLUDE_REDUCTIONS(POSTLUDE_ENUMERATOR)
#undef POSTLUDE_ENUMERATOR
};

}  // namespace postlude

#endif
