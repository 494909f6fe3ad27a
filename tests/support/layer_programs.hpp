#ifndef POSTLUDE_TESTS_SUPPORT_LAYER_PROGRAMS_HPP
#define POSTLUDE_TESTS_SUPPORT_LAYER_PROGRAMS_HPP

#include <vector>

#include <postlude/plan.hpp>

namespace postlude {
namespace test {

// Layers as models have them.

inline std::vector<OperandDeclaration> layer_operands() {
  return {{"bias", OperandKind::row},        {"other", OperandKind::row},
          {"mu", OperandKind::row},          {"spread", OperandKind::row},
          {"residual", OperandKind::matrix}, {"c", OperandKind::scalar}};
}

struct LayerProgram {
  const char* name;
  const char* text;
};

inline const LayerProgram layer_programs[] = {
    {"multiply, leaky_relu", "leaky_relu((y + bias) * 2, 0.1)"},
    {"divide, sum over dim 1, scale", "sum((y + bias) / 2, dim=1) * 1.5"},
    {"scale, add itself, clamp, logsumexp, v*mish(v)",
     "z = (y + bias) * 2; v = logsumexp(clamp(z + z, -10, 10), dim=1); v * mish(v)"},
    {"mish, mish", "mish(mish(y + bias))"},
    {"group_norm, hardtanh",
     "hardtanh(group_norm(y + bias, groups=8, weight=other, bias=bias), -2, 2)"},
    {"scale, batch_norm", "batch_norm((y + bias) * other, weight=other, bias=bias)"},
    {"scale, batch_norm with given statistics",
     "batch_norm((y + bias) * other, mean=mu, var=abs(spread) + 0.5, weight=other, bias=bias)"},
    {"sigmoid*v, bias add, group_norm",
     "v = y + bias; group_norm(sigmoid(v) * v + other, groups=16, weight=other, bias=bias, "
     "eps=1e-5)"},
    {"scale, add the unscaled value", "v = y + bias; v * 0.5 + v"},
    {"batch_norm, gelu, relu", "relu(gelu(batch_norm(y + bias, weight=other, bias=mu)))"},
    {"subtract, mean over dim 1, logsumexp, gelu, add a residual matrix",
     "gelu(logsumexp(mean(y + bias - other, dim=1), dim=1)) + residual"},
    {"scale, hardtanh, gelu", "gelu(hardtanh((y + bias) * 0.5, -2, 2))"},
    {"max_pool, sum, scale", "sum(max_pool(y + bias, kernel=2), dim=1) * 0.5"},
    {"sigmoid, sum", "sum(sigmoid(y + bias), dim=1)"},
    {"silu, scale", "silu(y + bias) * 2"},
    {"relu, divide", "relu(y + bias) / 2"},
    {"logsumexp, leaky_relu twice, gelu twice",
     "gelu(gelu(leaky_relu(leaky_relu(logsumexp(y + bias, dim=1), 0.01), 0.01)))"},
    {"dropout, softmax", "softmax(dropout(y + bias, p=0.2, seed=42), dim=1)"},
    {"dropout in inference, softmax", "softmax(dropout(y + bias, p=0), dim=1)"},
    {"sigmoid, scale, add the pre-activation", "v = y + bias; sigmoid(v) * 2 + v"},
    {"add, relu", "relu(y + other)"},
    {"silu, divide, clamp, tanh, clamp", "clamp(tanh(clamp(silu(y + bias) / 2, -1, 1)), -1, 1)"},
    {"batch_norm, scale, softmax",
     "softmax(batch_norm(y + bias, weight=other, bias=mu) * c, dim=1)"},
    {"divide, gelu", "gelu((y + bias) / 10)"},
    {"group_norm, silu, multiply by a row, silu",
     "silu(silu(group_norm(y + bias, groups=8, weight=other, bias=bias)) * other)"},
    {"gelu, softmax", "softmax(gelu(y + bias), dim=1)"},
    {"subtract, multiply, relu", "relu((y + bias - 2) * 1.5)"}};

}  // namespace test
}  // namespace postlude

#endif
