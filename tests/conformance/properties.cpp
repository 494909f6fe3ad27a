#include "support/catch.hpp"

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/error_model.hpp"
#include "support/programs.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

// What must hold whatever the right numbers are.

namespace {

Settings medium(DataType dtype) {
  Settings settings;
  settings.dtype = dtype;
  settings.m = 97;
  settings.n = 203;
  settings.k = 61;
  return settings;
}

/// A program with every kind of sweep.
const char* const all_sweeps =
    "z = y + bias; s = logsumexp(z, dim=1); t = mean(z - s, dim=0)\n"
    "return z * t, s, t, sum(sum(z * z, dim=0), dim=1), var(z, dim=1)";

}  // namespace

TEST_CASE("two executions give the same bits", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const Settings& settings : layouts_of(medium(dtype))) {
    Random random;
    INFO(random.hint());
    INFO(describe(settings));
    Workload workload(settings, all_sweeps, operands_of_every_kind());
    workload.fill_real(random);
    workload.execute();
    const auto first = workload.output_bytes();
    for (int repeat = 0; repeat < 3; ++repeat) {
      workload.execute();
      CHECK(workload.output_bytes() == first);
    }
  }
}

TEST_CASE("two plans of one program give the same bits", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Random random;
  INFO(random.hint());
  Workload first(medium(dtype), all_sweeps, operands_of_every_kind());
  Workload second(medium(dtype), all_sweeps, operands_of_every_kind());
  first.fill_real(random);
  second.x().fill(first.x().elements());
  second.w().fill(first.w().elements());
  second.operand("bias").fill(first.operand("bias").elements());
  first.execute();
  second.execute();
  CHECK(first.output_bytes() == second.output_bytes());
}

TEST_CASE("the caller's workspace is used, and nothing beside it", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const Settings& settings : layouts_of(medium(dtype))) {
    Random random;
    INFO(random.hint());
    INFO(describe(settings));
    Workload workload(settings, all_sweeps, operands_of_every_kind());
    workload.fill_real(random);
    workload.execute();
    const auto expected = workload.output_bytes();

    const std::size_t needed = workload.plan().workspace_bytes();
    REQUIRE(needed > 0);
    constexpr std::size_t zone = 4096;
    std::vector<unsigned char> pattern(needed + 2 * zone, 0xff);
    DeviceBuffer workspace(pattern.size());
    workspace.copy_from_host(pattern.data());
    for (std::size_t i = 0; i < workload.plan().result_count(); ++i)
      workload.output(i).fill([] { return 0.5; });
    for (std::size_t i = 0; i < workload.plan().result_count(); ++i) workload.output(i).upload();
    workload.plan().execute(execution_space(), workload.device_arguments(), workspace.data() + zone,
                            needed);
    fence();
    for (std::size_t i = 0; i < workload.plan().result_count(); ++i) workload.output(i).download();
    CHECK(workload.output_bytes() == expected);

    std::vector<unsigned char> after(pattern.size());
    workspace.copy_to_host(after.data());
    CHECK(std::memcmp(after.data(), pattern.data(), zone) == 0);
    CHECK(std::memcmp(after.data() + zone + needed, pattern.data(), zone) == 0);
    CHECK(std::memcmp(after.data() + zone, pattern.data(), needed) != 0);
  }
}

TEST_CASE("one plan is executed by several host threads at once", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Random random;
  INFO(random.hint());
  Workload workload(medium(dtype), all_sweeps, operands_of_every_kind());
  workload.fill_real(random);
  workload.execute();
  const auto expected = workload.output_bytes();

  constexpr std::size_t thread_count = 4;
  std::vector<std::vector<TestTensor>> outputs(thread_count);
  std::vector<Arguments> arguments(thread_count, workload.device_arguments());
  for (std::size_t thread = 0; thread < thread_count; ++thread)
    for (std::size_t i = 0; i < workload.plan().result_count(); ++i) {
      const std::vector<std::int64_t> extents = workload.plan().result_extents(i);
      outputs[thread].emplace_back(dtype, std::vector<std::int64_t>{extents[1], extents[2]});
      arguments[thread].outputs[i] = outputs[thread].back().device();
    }
  std::vector<std::string> failures(thread_count);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < thread_count; ++thread)
    threads.emplace_back([&, thread] {
      try {
        for (int repeat = 0; repeat < 5; ++repeat) workload.plan().execute(arguments[thread]);
      } catch (const std::exception& error) {
        failures[thread] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  fence();
  for (std::size_t thread = 0; thread < thread_count; ++thread) {
    INFO("thread " << thread);
    CHECK(failures[thread].empty());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      outputs[thread][i].download();
      CHECK(outputs[thread][i].bytes() == expected[i]);
    }
  }
}

TEST_CASE("permuting the rows of x permutes the rows of the results", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const Settings& settings : layouts_of(medium(dtype))) {
    Random random;
    INFO(random.hint());
    INFO(describe(settings));
    // The data are exact, and so is everything in the program: the order of sums is no excuse.
    Workload workload(settings, "z = relu(y + bias); return z, sum(z, dim=1), max(z, dim=1)",
                      operands_of_every_kind());
    workload.fill_exact(random);
    workload.execute();
    const std::vector<double> matrix = workload.output(0).elements();
    const std::vector<double> sums = workload.output(1).elements();
    const std::vector<double> largest = workload.output(2).elements();

    const std::vector<double> x = workload.x().elements();
    const auto rows = static_cast<std::size_t>(settings.m);
    const auto columns = static_cast<std::size_t>(settings.n);
    const auto depth = static_cast<std::size_t>(settings.k);
    const auto source = [&](std::size_t row) { return (row * 31 + 5) % rows; };
    std::vector<double> permuted(x.size());
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < depth; ++k) permuted[i * depth + k] = x[source(i) * depth + k];
    workload.x().fill(permuted);
    workload.execute();
    const std::vector<double> after = workload.output(0).elements();
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j)
        wrong += after[i * columns + j] == matrix[source(i) * columns + j] ? 0 : 1;
      const auto row = static_cast<std::int64_t>(i);
      wrong += workload.output(1).get(row) == sums[source(i)] ? 0 : 1;
      wrong += workload.output(2).get(row) == largest[source(i)] ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("scaling x by a power of two scales homogeneous results exactly", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const double factor : {1024.0, 1.0 / 4096}) {
    for (const Settings& settings : layouts_of(medium(dtype))) {
      Random random;
      INFO(random.hint());
      INFO(describe(settings) << ", factor " << factor);
      Workload workload(settings,
                        "return relu(y), sum(y, dim=0), mean(abs(y), dim=1), max(y, dim=0), "
                        "y - mean(y, dim=1)");
      workload.fill_real(random);
      workload.execute();
      std::vector<std::vector<double>> before;
      for (std::size_t i = 0; i < 5; ++i) before.push_back(workload.output(i).elements());
      std::vector<double> x = workload.x().elements();
      for (double& value : x) value *= factor;
      workload.x().fill(x);
      workload.execute();
      for (std::size_t i = 0; i < before.size(); ++i) {
        for (double& value : before[i]) value *= factor;
        CHECK(workload.output(i).elements() == before[i]);
      }
    }
  }
}

TEST_CASE("y is linear in x where everything is exact", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const Settings& settings : layouts_of(medium(dtype))) {
    Random random;
    INFO(random.hint());
    INFO(describe(settings));
    Workload workload(settings, "y");
    workload.fill_exact(random);
    workload.execute();
    const std::vector<double> x = workload.x().elements();
    const std::vector<double> first = workload.output().elements();
    workload.x().fill([&] { return random.quarter(); });
    const std::vector<double> other = workload.x().elements();
    workload.execute();
    std::vector<double> sum = workload.output().elements();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += first[i];
    std::size_t at = 0;
    workload.x().fill([&] {
      const double value = x[at] + other[at];
      ++at;
      return value;
    });
    workload.execute();
    CHECK(workload.output().elements() == sum);
  }
}
