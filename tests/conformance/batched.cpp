#include "support/catch.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <postlude/error.hpp>

#include "support/case_count.hpp"
#include "support/errors.hpp"
#include "support/mixed_workload.hpp"
#include "support/programs.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

// A leading batch dimension: every matrix of the batch is a problem of its own.

namespace {

const std::vector<std::string>& programs() {
  static const std::vector<std::string> list = {
      "y",
      "min(y + bias, c) - c",
      "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))",
      "m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))",
      "gelu(y + bias) * scale + residual * c - gain",
      "sum(y, dim=0)",
      "sum(y, dim=1)",
      "return mean(y, dim=1), var(y, dim=0), argmax(y, dim=1), argmin(y, dim=0), y",
      "return logsumexp(y, dim=1), norm(y, dim=0), prod(y > 0, dim=1), any(y > 3, dim=0)",
      "sum(sum(y, dim=0), dim=1)",
      "y - mean(y, dim=0) + max(y, dim=1) * residual",
      "softmax(y, dim=1)",
      "log_softmax(y + bias, dim=0)",
      "layer_norm(y, bias=bias, weight=bias) + y",
      "batch_norm(y * scale)",
      "group_norm(y, groups=3, bias=bias)",
      "group_norm(group_norm(y, groups=3), groups=5)",
      "max_pool(y, kernel=4, stride=3)",
      "mean(avg_pool(relu(y), 2), dim=0)",
      "l2_normalize(y, dim=0) + rms_norm(y)",
      "dropout(y + residual, p=0.5, seed=5)"};
  return list;
}

/// Programs cut windows of a third and a fifth.
std::vector<Settings> sizes(DataType dtype) {
  const std::int64_t extents[][3] = {{1, 15, 1}, {7, 15, 5}, {33, 75, 17}, {300, 15, 2}};
  std::vector<Settings> list;
  for (const auto& extent : extents) {
    Settings settings;
    settings.dtype = dtype;
    settings.m = extent[0];
    settings.n = extent[1];
    settings.k = extent[2];
    list.push_back(settings);
  }
  return list;
}

MixedSettings batched(Settings base, std::int64_t batch, bool shares_w, std::int64_t gap) {
  base.batch = batch;
  MixedSettings settings = settings_of(base);
  settings.is_batched = true;
  settings.shares_w = shares_w;
  settings.batch_gap = gap;
  return settings;
}

void check_program(const std::string& text, const MixedSettings& settings,
                   const std::vector<OperandDeclaration>& operands = operands_of_every_kind()) {
  Random random;
  INFO(random.hint());
  INFO(text << ", " << describe(settings));
  MixedWorkload workload(settings, text, operands);
  workload.fill_exact(random);
  workload.execute();
  workload.check();
  count_case("batched");
}

Tensor rank3(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  Tensor tensor;
  tensor.rank = 3;
  tensor.extent[0] = batch;
  tensor.extent[1] = rows;
  tensor.extent[2] = columns;
  tensor.stride[0] = rows * columns;
  tensor.stride[1] = columns;
  tensor.stride[2] = 1;
  tensor.memory_space = memory_space();
  return tensor;
}

}  // namespace

TEST_CASE("batched problems agree with the reference", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64, DataType::bfloat16);
  std::size_t turn = 0;
  for (const std::string& program : programs())
    for (const Settings& size : sizes(dtype))
      for (const Settings& layout : layouts_of(size))
        for (const bool shares_w : {false, true}) {
          // Batches of one and three, dense and with a gap, and operands that are shared and that
          // are not, in turn: all meet all over the sizes.
          const std::int64_t batch = turn % 3 == 0 ? 1 : 3;
          const std::int64_t gap = turn % 4 < 2 ? 0 : 11;
          check_program(program, batched(layout, batch, shares_w, gap),
                        turn % 5 < 2 ? operands_of_every_kind() : batched_operands_of_every_kind());
          ++turn;
        }
}

TEST_CASE("a batch of nothing is nothing to do", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64, DataType::float16);
  for (const std::string& program : programs())
    for (const Settings& layout : layouts_of(sizes(dtype)[1]))
      for (const bool shares_w : {false, true})
        check_program(program, batched(layout, 0, shares_w, 0),
                      shares_w ? operands_of_every_kind() : batched_operands_of_every_kind());
}

TEST_CASE("a batch gives what its matrices give one by one, bit for bit", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::string text =
      "z = group_norm(y + bias, groups=5) * gain; return z, sum(z, dim=0), softmax(y, dim=1), "
      "argmax(y * scale + residual, dim=0)";
  const std::vector<OperandDeclaration> operands = {{"bias", OperandKind::row, true},
                                                    {"scale", OperandKind::column, true},
                                                    {"residual", OperandKind::matrix, false},
                                                    {"gain", OperandKind::element, true}};
  for (const bool shares_w : {false, true})
    for (const Settings& layout : layouts_of(sizes(dtype)[2])) {
      const MixedSettings settings = batched(layout, 4, shares_w, 5);
      Random random;
      INFO(random.hint());
      INFO(describe(settings));
      MixedWorkload whole(settings, text, operands);
      whole.fill_exact(random);
      whole.execute();
      Settings one = layout;
      one.batch = 0;
      MixedWorkload single(settings_of(one), text, operands_of_every_kind());
      fill(single.operand("residual"), elements(whole.operand("residual")));
      const auto part = [](const TestTensor& tensor, std::size_t batch, std::size_t count) {
        const std::vector<double> all = elements(tensor);
        const std::size_t size = all.size() / count;
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(batch * size);
        return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(size));
      };
      for (std::size_t batch = 0; batch < 4; ++batch) {
        INFO("matrix " << batch);
        fill(single.x(), part(whole.x(), batch, 4));
        for (const char* name : {"bias", "scale", "gain"})
          fill(single.operand(name), part(whole.operand(name), batch, 4));
        fill(single.w(), shares_w ? elements(whole.w()) : part(whole.w(), batch, 4));
        single.execute();
        for (std::size_t i = 0; i < 4; ++i)
          CHECK(part(whole.output(i), batch, 4) == elements(single.output(i)));
      }
      count_case("batched");
    }
}

TEST_CASE("matrices of a batch have dropout masks of their own", "[conformance]") {
  Settings size;
  size.m = 64;
  size.n = 64;
  MixedWorkload workload(batched(size, 2, true, 0), "dropout(y, 0.5, seed=1)");
  fill(workload.x(), [] { return 1.0; });
  fill(workload.w(), [] { return 1.0; });
  workload.execute();
  const std::vector<double> values = elements(workload.output());
  const std::size_t half = values.size() / 2;
  double different = 0;
  for (std::size_t i = 0; i < half; ++i) different += values[i] != values[half + i];
  // Independent masks differ in half of the elements, within five standard deviations.
  const auto count = static_cast<double>(half);
  CHECK(std::abs(different - count / 2) <= 5 * std::sqrt(count) / 2);
}

TEST_CASE("a batch of vectors need not have the dimension of size one", "[conformance]") {
  Settings size;
  size.m = 5;
  size.n = 7;
  size.k = 3;
  Random random;
  INFO(random.hint());
  MixedWorkload workload(batched(size, 2, true, 0), "y * scale + bias - gain",
                         batched_operands_of_every_kind());
  workload.fill_exact(random);
  workload.execute();
  const std::vector<double> expected = elements(workload.output());
  Arguments arguments = workload.device_arguments();
  for (Binding& binding : arguments.bindings) {
    Tensor& tensor = binding.tensor;
    if (binding.name == "bias") {  // 2 x 1 x 7
      tensor.extent[1] = tensor.extent[2];
      tensor.stride[1] = tensor.stride[2];
      tensor.rank = 2;
    } else if (binding.name == "scale") {  // 2 x 5 x 1
      tensor.rank = 2;
    } else if (binding.name == "gain") {  // 2 x 1 x 1
      tensor.rank = 1;
    }
  }
  fill(workload.output(), [] { return -1.0; });
  workload.output().upload();
  workload.plan().execute(arguments);
  fence();
  workload.output().download();
  CHECK(elements(workload.output()) == expected);
}

TEST_CASE("the C++ operators batch an operand too", "[conformance]") {
  Settings size;
  size.m = 5;
  size.n = 7;
  size.k = 3;
  Random random;
  INFO(random.hint());
  MixedWorkload workload(batched(size, 3, false, 0),
                         y() * operand("scale", OperandKind::column, true) + row("bias"));
  CHECK(workload.operand("scale").extent(0) == 3);
  CHECK(workload.operand("bias").extent(0) == 1);
  workload.fill_exact(random);
  workload.execute();
  workload.check();
  const auto twice = [&] {
    Plan(execution_space(), {workload.x().device(), workload.w().device(), ComputeMode::automatic},
         row("bias") + operand("bias", OperandKind::row, true));
  };
  check_error(Status::invalid_argument, twice, "'bias' is declared with two kinds");
}

TEST_CASE("operands of another batch than y's are refused", "[conformance][invalid_input]") {
  Settings size;
  size.m = 5;
  size.n = 7;
  size.k = 3;
  Random random;
  INFO(random.hint());
  MixedWorkload workload(batched(size, 2, true, 0), "y * scale + bias - gain + residual",
                         batched_operands_of_every_kind());
  workload.fill_exact(random);
  for (const char* name : {"scale", "bias", "gain", "residual"}) {
    Arguments arguments = workload.device_arguments();
    for (Binding& binding : arguments.bindings)
      if (binding.name == name) binding.tensor.extent[0] = 1;
    check_error(
        Status::shape_mismatch, [&] { workload.plan().execute(arguments); },
        "operand '" + std::string(name) + "' has shape 1x", "expected 2x");
    fence();
    workload.output().download();
    CHECK(workload.output().is_untouched());
  }
  const auto scalar = [&] {
    Plan(execution_space(), {workload.x().device(), workload.w().device(), ComputeMode::automatic},
         "y * c", {{"c", OperandKind::scalar, true}});
  };
  check_error(Status::invalid_argument, scalar, "'c' is a batched scalar", "batched element");
}

TEST_CASE("batches that do not fit are refused", "[conformance][invalid_input]") {
  const auto plan = [](const Tensor& x, const Tensor& w) {
    return [x, w] { Plan(execution_space(), {x, w, ComputeMode::automatic}, "y"); };
  };
  check_error(Status::shape_mismatch, plan(rank3(2, 5, 3), rank3(3, 7, 3)), "w has a batch of 3",
              "expected that of x, 2");
  check_error(Status::shape_mismatch, plan(rank3(2, 5, 3), rank3(1, 7, 3)), "w has a batch of 1");
  check_error(Status::shape_mismatch, plan(rank3(2, 5, 3), rank3(2, 7, 4)), "in_features");
  check_error(Status::invalid_argument, plan(rank3(-1, 5, 3), rank3(-1, 7, 3)), "x", "-1");
  Tensor two_dimensions = rank3(2, 5, 3);
  two_dimensions.rank = 2;
  two_dimensions.extent[0] = 5;
  two_dimensions.extent[1] = 3;
  check_error(Status::shape_mismatch, plan(two_dimensions, rank3(2, 7, 3)), "batch dimension");
}

TEST_CASE("a batched call with the wrong batch is refused, and writes nothing",
          "[conformance][invalid_input]") {
  Settings size;
  size.m = 5;
  size.n = 7;
  size.k = 3;
  Random random;
  INFO(random.hint());
  MixedWorkload workload(batched(size, 2, false, 0), "y + bias", operands_of_every_kind());
  workload.fill_exact(random);
  const auto refuse = [&](const std::function<void(Arguments&)>& spoil, const std::string& what) {
    Arguments arguments = workload.device_arguments();
    spoil(arguments);
    check_error(
        Status::shape_mismatch, [&] { workload.plan().execute(arguments); }, what);
    fence();
    workload.output().download();
    CHECK(workload.output().is_untouched());
  };
  refuse([](Arguments& a) { a.x.extent[0] = 1; }, "x is f32 1x5x3");
  refuse([](Arguments& a) { a.w.extent[0] = 1; }, "w is f32 1x7x3");
  refuse([](Arguments& a) { a.x.stride[0] += 1; }, "x has stride");
  refuse([](Arguments& a) { a.outputs[0].extent[0] = 1; }, "1x5x7");
  refuse(
      [](Arguments& a) {
        Tensor& output = a.outputs[0];
        output.rank = 2;
        output.extent[0] = 5;
        output.extent[1] = 7;
        output.stride[0] = 7;
        output.stride[1] = 1;
      },
      "5x7");
  workload.execute();
  workload.check();
}
