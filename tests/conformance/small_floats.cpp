#include "support/catch.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "expression/signature.hpp"
#include "support/case_count.hpp"
#include "support/mixed_workload.hpp"
#include "support/programs.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

// float16 and bfloat16 in memory: converted when loaded, float32 arithmetic, one rounding when
// stored. Results must be what a number within the float32 error becomes by one rounding.

namespace {

const std::vector<std::string>& programs() {
  static const std::vector<std::string> list = {
      "y",
      "min(y + bias, c) - c",
      "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))",
      "m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))",
      "gelu(y + bias) * scale + residual * c - gain",
      "softmax(y, dim=1)",
      "log_softmax(y + bias, dim=0)",
      "layer_norm(y, bias, bias)",
      "batch_norm(y + residual)",
      "rms_norm(y, weight=bias)",
      "l2_normalize(y, dim=0)",
      "dropout(silu(y), p=0.25, seed=11)",
      "return y, max(y, dim=1), argmax(y, dim=1), mean(y, dim=0), relu(y)",
      "return sum(y, dim=1), var(y, dim=0), logsumexp(y, dim=1), norm(y, dim=0)",
      "return bias, scale * gain, residual, sum(residual, dim=0)",
      "mean(max(y, dim=0), dim=1)",
      "exp(8 * tanh(y)) * residual"};
  return list;
}

void check_program(const Epilogue& epilogue, const MixedSettings& settings, bool is_exact) {
  Random random;
  INFO(random.hint());
  INFO(epilogue.text() << ", " << describe(settings));
  MixedWorkload workload(settings, epilogue, operands_of_every_kind());
  if (is_exact)
    workload.fill_exact(random);
  else
    workload.fill_real(random);
  workload.execute();
  workload.check();
  count_case("small floats");
}

/// A row of these values as y, in every result layout that `output` can have.
std::vector<double> on_values(DataType dtype, DataType output, const std::vector<double>& values,
                              const std::string& text) {
  MixedSettings settings;
  settings.base.dtype = dtype;
  settings.base.n = static_cast<std::int64_t>(values.size());
  settings.output_dtype = output;
  settings.base.result = ResultLayout::any;
  INFO(text << ", " << describe(settings));
  MixedWorkload workload(settings, text);
  fill(workload.x(), [] { return 1.0; });
  fill(workload.w(), values);
  workload.execute();
  count_case("small floats");
  return elements(workload.output());
}

std::vector<double> on_values(DataType dtype, const std::vector<double>& values,
                              const std::string& text) {
  return on_values(dtype, dtype, values, text);
}

/// y of one column.
std::vector<double> on_column_of(DataType dtype, const std::vector<double>& values,
                                 const std::string& text) {
  MixedSettings settings;
  settings.base.dtype = settings.output_dtype = dtype;
  settings.base.m = static_cast<std::int64_t>(values.size());
  INFO(text << ", " << describe(settings));
  MixedWorkload workload(settings, text);
  fill(workload.w(), [] { return 1.0; });
  fill(workload.x(), values);
  workload.execute();
  count_case("small floats");
  return elements(workload.output());
}

using Values = std::vector<double>;

}  // namespace

TEST_CASE("problems in 16-bit floats agree with the reference", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float16, DataType::bfloat16);
  for (const std::string& program : programs())
    for (const Settings& settings : sizes_and_layouts(dtype)) {
      // Large y in 5 layouts costs the reference most of the time: exact there, real elsewhere.
      check_program(program, settings_of(settings), settings.m * settings.n > 10000);
      if (settings.m < 100 && settings.n < 100) check_program(program, settings_of(settings), true);
    }
}

TEST_CASE("every pointwise operation agrees with the reference in 16-bit floats", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float16, DataType::bfloat16);
  std::vector<Operation> operations = {
#define POSTLUDE_ITEM(name, arity, signature, formula) Operation::name,
      POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_ITEM) POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_ITEM)
#undef POSTLUDE_ITEM
  };
  Settings size;
  size.dtype = dtype;
  size.m = 19;
  size.n = 37;
  size.k = 3;
  for (const Operation operation : operations) {
    const detail::OperationSignature& signature = detail::signature_of(operation);
    const std::vector<Expression> arguments[] = {{y(), row("r"), column("c")},
                                                 {matrix("m"), y(), scalar("s")}};
    for (std::vector<Expression> given : arguments) {
      given.resize(static_cast<std::size_t>(signature.arity), y());
      for (const Settings& settings : layouts_of(size)) {
        Random random;
        INFO(random.hint());
        INFO(signature.name << ", " << describe(settings));
        MixedWorkload workload(settings_of(settings), Epilogue(detail::apply(operation, given)));
        workload.fill_exact(random);
        workload.execute();
        workload.check();
        count_case("small floats");
      }
    }
  }
}

TEST_CASE("every reduction agrees with the reference in 16-bit floats", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float16, DataType::bfloat16);
  const std::vector<Reduction> reductions = {
#define POSTLUDE_ITEM(name, parameter, fallback, formula) Reduction::name,
      POSTLUDE_REDUCTIONS(POSTLUDE_ITEM)
#undef POSTLUDE_ITEM
  };
  for (const Reduction reduction : reductions)
    for (const int dim : {0, 1})
      for (const Settings& settings : sizes_and_layouts(dtype)) {
        Random random;
        INFO(random.hint());
        INFO(detail::signature_of(reduction).name << " over dim " << dim << ", "
                                                  << describe(settings));
        const double parameter = detail::signature_of(reduction).default_value;
        const Expression reduced = settings.n % 2 == 0 ? y() + row("r") : y();
        MixedWorkload workload(settings_of(settings),
                               Epilogue(reduce(reduction, reduced, dim, parameter)));
        workload.fill_exact(random);
        workload.execute();
        workload.check();
        count_case("small floats");
      }
}

TEST_CASE("inputs, operands and results may all differ in dtype", "[conformance]") {
  using D = DataType;
  const DataType floats[] = {D::float64, D::float32, D::float16, D::bfloat16};
  const std::vector<std::string> mixed = {
      "y", "gelu(y + bias) * scale + residual * c - gain", "layer_norm(y, bias, bias)",
      "return y + 1, sum(y, dim=0), max(y, dim=1), argmin(y, dim=1)", "softmax(y, dim=0)"};
  for (const DataType dtype : floats)
    for (const DataType operand : floats)
      for (const DataType output : floats)
        for (const std::string& program : mixed) {
          Settings size;
          size.dtype = dtype;
          size.m = 17;
          size.n = 45;
          size.k = 7;
          // Layouts of x, w and operands vary; results of another dtype need the layout `any`.
          for (Settings settings : layouts_of(size)) {
            settings.result = ResultLayout::any;
            MixedSettings all = settings_of(settings);
            all.operand_dtype = operand;
            all.output_dtype = output;
            check_program(program, all, true);
          }
        }
}

TEST_CASE("a float64 problem rounds to a 16-bit result once", "[conformance]") {
  // Just above the middle of two neighbours of 1: by way of float32 it would become the tie.
  const Values just_above = {1 + 0x1p-11 + 0x1p-40, -(1 + 0x1p-11 + 0x1p-40)};
  CHECK(on_values(DataType::float64, DataType::float16, just_above, "y + 0") ==
        Values{1 + 0x1p-10, -(1 + 0x1p-10)});
  const Values above_bfloat16 = {1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8};
  CHECK(on_values(DataType::float64, DataType::bfloat16, above_bfloat16, "y + 0") ==
        Values{1 + 0x1p-7, 1});
}

TEST_CASE("a result beyond the largest 16-bit number is an infinity", "[conformance]") {
  const auto inf = HUGE_VAL;
  CHECK(on_values(DataType::float32, DataType::float16, {65519, 65520, -65520, 1e6, 65504}, "y") ==
        Values{65504, inf, -inf, inf, 65504});
  CHECK(on_values(DataType::float32, DataType::bfloat16, {0x1.fep127, 0x1.ffp127, -0x1.fffffep127},
                  "y") == Values{0x1.fep127, inf, -inf});
  // On the way nothing overflows: the arithmetic is float32.
  CHECK(on_values(DataType::float16, {60000, 300}, "y * y / 65536 / 2") ==
        Values{27472, 0.6865234375});
  CHECK(on_values(DataType::float16, {60000, 60000, 60000}, "mean(y, dim=1)") == Values{60000});
  CHECK(on_values(DataType::float16, {0x1p-24, 0x1.8p-24, 0x1p-14}, "y / 2 + y / 2") ==
        Values{0x1p-24, 0x1p-23, 0x1p-14});
}

TEST_CASE("activations of large 16-bit values do not overflow on the way", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float16, DataType::bfloat16);
  const auto single = [&](double value, const std::string& text) {
    return on_values(dtype, {value}, text)[0];
  };
  CHECK(single(100, "softplus(y)") == 100);
  CHECK(single(12, "softplus(y)") == 12);
  CHECK(single(HUGE_VAL, "mish(y)") == HUGE_VAL);
  CHECK(single(12, "gelu(y)") == 12);
  CHECK(single(12, "gelu_tanh(y)") == 12);
  CHECK(single(HUGE_VAL, "gelu(y)") == HUGE_VAL);
  CHECK(single(-HUGE_VAL, "gelu(y)") == 0);
  CHECK(single(-HUGE_VAL, "gelu_tanh(y)") == 0);
  // 11648 = 91 * 128 has 7 bits: exact in both.
  CHECK(single(11648, "hardswish(y)") == 11648);
  CHECK(std::isnan(single(std::nan(""), "relu(y)")));
  CHECK(std::isnan(single(std::nan(""), "clamp(y, 0, 1)")));
}

TEST_CASE("sums of 16-bit ones count them, however many", "[conformance]") {
  const Values ones(20000, 1.0);
  CHECK(on_values(DataType::float16, ones, "sum(y, dim=1)") == Values{20000});
  CHECK(on_column_of(DataType::float16, ones, "sum(y, dim=0)") == Values{20000});
  const Values many(70000, 1.0);
  // The bfloat16 nearest to 70000.
  CHECK(on_values(DataType::bfloat16, many, "sum(y, dim=1)") == Values{70144});
  CHECK(on_column_of(DataType::bfloat16, many, "sum(y, dim=0)") == Values{70144});
  CHECK(on_values(DataType::bfloat16, many, "mean(y, dim=1)") == Values{1});
  CHECK(on_column_of(DataType::bfloat16, many, "mean(y, dim=0)") == Values{1});
}

TEST_CASE("softmax of equal 16-bit values divides 1 evenly", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float16, DataType::bfloat16);
  const Values equal(512, 7.25);
  CHECK(on_values(dtype, equal, "softmax(y, dim=1)") == Values(512, 1.0 / 512));
  CHECK(on_column_of(dtype, equal, "softmax(y, dim=0)") == Values(512, 1.0 / 512));
}
