#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <postlude/plan.hpp>

#include "support/backend.hpp"
#include "support/case_count.hpp"

using namespace postlude;
using namespace postlude::test;

// More elements than 32 bits can count. Only when they are asked for ("[full_size]"): they take
// tens of gigabytes. The data are small integers by index, so that every result is exact and known.

namespace {

Tensor tensor_of(const DeviceBuffer& buffer, const std::vector<std::int64_t>& extents) {
  Tensor tensor;
  tensor.data = buffer.data();
  tensor.rank = static_cast<int>(extents.size());
  std::int64_t stride = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    tensor.extent[i] = extents[i];
    tensor.stride[i] = stride;
    stride *= extents[i];
  }
  tensor.memory_space = memory_space();
  return tensor;
}

template <class Value>
DeviceBuffer filled(std::int64_t count, const Value& value) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value(i);
  DeviceBuffer buffer(values.size() * sizeof(float));
  buffer.copy_from_host(values.data());
  return buffer;
}

DeviceBuffer floats(std::int64_t count) {
  return DeviceBuffer(static_cast<std::size_t>(count) * sizeof(float));
}

/// Elements from `first` on that are not `expected(index)`.
template <class Expected>
std::int64_t wrong_elements(const DeviceBuffer& buffer, std::int64_t first, std::int64_t count,
                            const Expected& expected) {
  constexpr std::int64_t piece = 1 << 26;
  std::vector<float> values(static_cast<std::size_t>(std::min(piece, count)));
  std::int64_t wrong = 0;
  for (std::int64_t begin = first; begin < first + count; begin += piece) {
    const std::int64_t size = std::min(piece, first + count - begin);
    buffer.copy_to_host(values.data(), static_cast<std::size_t>(begin) * sizeof(float),
                        static_cast<std::size_t>(size) * sizeof(float));
    for (std::int64_t i = 0; i < size; ++i)
      wrong += values[static_cast<std::size_t>(i)] == expected(begin + i) ? 0 : 1;
  }
  return wrong;
}

float x_value(std::int64_t row) { return static_cast<float>(row % 5 - 2); }
float w_value(std::int64_t column) { return static_cast<float>(column % 7 - 3); }
float bias_value(std::int64_t column) { return static_cast<float>(column % 3); }

}  // namespace

TEST_CASE("a matrix of more than 2^31 elements is computed and reduced", "[.full_size]") {
  constexpr std::int64_t m = 65600;
  constexpr std::int64_t n = 32771;
  static_assert(m * n > std::int64_t(1) << 31, "");
  const StageCompilation compilation =
      GENERATE(StageCompilation::automatic, StageCompilation::never);
  const DeviceBuffer x = filled(m, x_value);
  const DeviceBuffer w = filled(n, w_value);
  const DeviceBuffer bias = filled(n, bias_value);
  const DeviceBuffer z = floats(m * n);
  const DeviceBuffer sums = floats(m);
  const DeviceBuffer largest = floats(n);
  PlanOptions options;
  options.compilation = compilation;
  const LinearProblem problem{tensor_of(x, {m, 1}), tensor_of(w, {n, 1}), ComputeMode::automatic};
  const Plan plan(execution_space(), problem,
                  "z = relu(y + bias); s = sum(y, dim=1); l = max(y, dim=0); return z, s, l",
                  {{"bias", OperandKind::row}}, options);
  plan.execute({problem.x,
                problem.w,
                {{"bias", tensor_of(bias, {n})}},
                {tensor_of(z, {m, n}), tensor_of(sums, {m, 1}), tensor_of(largest, {1, n})}});
  fence();
  CHECK(wrong_elements(z, 0, m * n, [](std::int64_t i) {
          return std::max(x_value(i / n) * w_value(i % n) + bias_value(i % n), 0.0f);
        }) == 0);
  float sum_of_w = 0;
  for (std::int64_t i = 0; i < n; ++i) sum_of_w += w_value(i);
  CHECK(wrong_elements(sums, 0, m, [&](std::int64_t i) { return x_value(i) * sum_of_w; }) == 0);
  CHECK(wrong_elements(largest, 0, n,
                       [](std::int64_t i) { return 2 * std::max(w_value(i), -w_value(i)); }) == 0);
  count_case("large");
}

TEST_CASE("a batch is found beyond 2^31 elements", "[.full_size]") {
  constexpr std::int64_t batch = 3;
  constexpr std::int64_t m = 30000;
  constexpr std::int64_t n = 24001;
  static_assert(batch * m * n > std::int64_t(1) << 31, "");
  const DeviceBuffer x = filled(batch * m, x_value);
  const DeviceBuffer w = filled(n, w_value);
  const DeviceBuffer z = floats(batch * m * n);
  const DeviceBuffer largest = floats(batch * n);
  const LinearProblem problem{tensor_of(x, {batch, m, 1}), tensor_of(w, {n, 1}),
                              ComputeMode::automatic};
  const Plan plan(execution_space(), problem, "l = max(y, dim=0); return y - 1, l");
  plan.execute(
      {problem.x, problem.w, {}, {tensor_of(z, {batch, m, n}), tensor_of(largest, {batch, 1, n})}});
  fence();
  CHECK(wrong_elements(z, 0, batch * m * n,
                       [](std::int64_t i) { return x_value(i / n) * w_value(i % n) - 1; }) == 0);
  CHECK(wrong_elements(largest, 0, batch * n, [](std::int64_t i) {
          return 2 * std::max(w_value(i % n), -w_value(i % n));
        }) == 0);
  count_case("large");
}

TEST_CASE("more lines than a grid has blocks are reduced", "[.full_size]") {
  constexpr std::int64_t batch = 2;
  constexpr std::int64_t m = (std::int64_t(1) << 30) + 8;
  constexpr std::int64_t n = 2;
  const StageCompilation compilation =
      GENERATE(StageCompilation::automatic, StageCompilation::never);
  const DeviceBuffer x = filled(batch * m, x_value);
  const DeviceBuffer w = filled(n, [](std::int64_t i) { return static_cast<float>(i + 1); });
  const DeviceBuffer sums = floats(batch * m);
  PlanOptions options;
  options.compilation = compilation;
  const LinearProblem problem{tensor_of(x, {batch, m, 1}), tensor_of(w, {n, 1}),
                              ComputeMode::automatic};
  const Plan plan(execution_space(), problem, "sum(y, dim=1)", {}, options);
  plan.execute({problem.x, problem.w, {}, {tensor_of(sums, {batch, m, 1})}});
  fence();
  const auto expected = [](std::int64_t i) { return 3 * x_value(i); };
  constexpr std::int64_t some = 1 << 20;
  CHECK(wrong_elements(sums, 0, some, expected) == 0);
  CHECK(wrong_elements(sums, m - some, 2 * some, expected) == 0);
  CHECK(wrong_elements(sums, batch * m - some, some, expected) == 0);
  count_case("large");
}
