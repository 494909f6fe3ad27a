#include "support/catch.hpp"

#include <string>
#include <vector>

#include "support/case_count.hpp"
#include "support/error_model.hpp"
#include "support/mixed_workload.hpp"
#include "support/workload.hpp"

using namespace postlude;
using namespace postlude::test;

// Layers as models have them, within 1e-4 + 1e-4 |ref| in float32 and 1e-11 + 1e-11 |ref| in
// float64, which is what check_real() asks for.

namespace {

std::vector<OperandDeclaration> operands() {
  return {{"bias", OperandKind::row},        {"other", OperandKind::row},
          {"mu", OperandKind::row},          {"spread", OperandKind::row},
          {"residual", OperandKind::matrix}, {"c", OperandKind::scalar}};
}

struct LayerProgram {
  const char* name;
  const char* text;
};

const LayerProgram programs[] = {
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

/// Programs cut dim 1 into 16 and 8 groups and into pairs.
std::vector<Settings> settings_of_layers(DataType dtype) {
  const std::int64_t sizes[][3] = {{16, 32, 24}, {33, 48, 17}, {65, 112, 64}, {128, 256, 96}};
  std::vector<Settings> list;
  for (const auto& size : sizes) {
    Settings settings;
    settings.dtype = dtype;
    settings.m = size[0];
    settings.n = size[1];
    settings.k = size[2];
    for (const ResultLayout layout : {ResultLayout::row_major, ResultLayout::column_major}) {
      settings.result = layout;
      const bool by_rows = layout == ResultLayout::row_major;
      settings.x = by_rows ? Layout::row_major : Layout::column_major;
      settings.w = settings.operands = settings.x;
      list.push_back(settings);
    }
  }
  return list;
}

}  // namespace

TEST_CASE("layers of models agree with the reference", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const LayerProgram& program : programs)
    for (const Settings& settings : settings_of_layers(dtype)) {
      Random random;
      INFO(random.hint());
      INFO(program.name << ": " << program.text << ", " << describe(settings));
      Workload workload(settings, program.text, operands());
      workload.fill_real(random);
      workload.execute();
      check_real(workload);
      count_case("layer programs");
    }
}

// Only when it is asked for: a minute on a GPU node of 16 cores, most of it the reference's.
TEST_CASE("layers of models agree with the reference at full size", "[.full_size]") {
  for (const LayerProgram& program : programs) {
    Settings settings;
    settings.m = 1024;
    settings.n = 8192;
    settings.k = 8192;
    Random random;
    INFO(random.hint());
    INFO(program.name << ": " << program.text << ", " << describe(settings));
    Workload workload(settings, program.text, operands());
    workload.fill_real(random);
    workload.execute();
    check_real(workload);
    count_case("layer programs at full size");
  }
}

TEST_CASE("layers of models agree with the reference within their error bounds", "[conformance]") {
  // The same programs against bounds that follow from the arithmetic, which are tighter for most
  // of them, and in 16-bit floats too.
  const DataType dtype =
      GENERATE(DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16);
  for (const LayerProgram& program : programs)
    for (const Settings& settings : settings_of_layers(dtype)) {
      if (settings.m > 100) continue;
      Random random;
      INFO(random.hint());
      INFO(program.name << ": " << program.text << ", " << describe(settings));
      MixedWorkload workload(settings_of(settings), program.text, operands());
      workload.fill_real(random);
      workload.execute();
      workload.check();
      count_case("layer programs");
    }
}
