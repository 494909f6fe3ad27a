#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <postlude/prepared_weights.hpp>

#include "execute/plan_implementation.hpp"
#include "gemm/processor.hpp"
#include "reference/reference_gemm.hpp"
#include "support/backend.hpp"
#include "support/case_count.hpp"
#include "support/catch.hpp"
#include "support/error_model.hpp"
#include "support/errors.hpp"
#include "support/forced_engine.hpp"
#include "support/mixed_workload.hpp"
#include "support/programs.hpp"
#include "support/settings.hpp"
#include "support/small_panels.hpp"

using namespace postlude;
using namespace postlude::test;

// The engine onednn, forced by name. Where the build or the backend has none, a warning says so.

namespace {

constexpr Layout unit_stride_layouts[] = {Layout::row_major, Layout::column_major,
                                          Layout::padded_rows, Layout::padded_columns};

/// x and w exchanged for others with a batch dimension whose strides are any.
struct BatchedProduct {
  TestTensor x;
  TestTensor w;
  TestTensor out;
};

/// Elements of the product of multiples of a quarter that are not exact.
std::int64_t wrong_elements(const BatchedProduct& product, bool shares_w) {
  std::int64_t wrong = 0;
  for (std::int64_t b = 0; b < product.out.extent(0); ++b)
    for (std::int64_t m = 0; m < product.out.extent(1); ++m)
      for (std::int64_t n = 0; n < product.out.extent(2); ++n) {
        double sum = 0;
        for (std::int64_t k = 0; k < product.x.extent(2); ++k)
          sum += product.x.get(b, m, k) * (shares_w ? product.w.get(n, k) : product.w.get(b, n, k));
        wrong += product.out.get(b, m, n) == sum ? 0 : 1;
      }
  return wrong;
}

}  // namespace

TEST_CASE("onednn is refused with the reason where the build or the backend has none",
          "[conformance]") {
  const TestTensor x(DataType::float32, {8, 16});
  const TestTensor w(DataType::float32, {8, 16});
  if (refusal_of("onednn").empty())
    CHECK(plan_on("onednn", x, w).explain().find("onednn: chosen (oneDNN's matmul, ") !=
          std::string::npos);
  else
    check_error(
        Status::unsupported, [&] { plan_on("onednn", x, w); }, "onednn: ", "oneDNN");
  CHECK(plan_on("", x, w).explain().find(
            refusal_of("onednn").empty() ? "onednn: " : "onednn: refused (") != std::string::npos);
}

TEST_CASE("onednn is chosen by itself on OpenMP and a processor with AVX-512 only",
          "[conformance]") {
  if (is_left_out("onednn")) return;
  const TestTensor x(DataType::float32, {8, 16});
  const TestTensor w(DataType::float32, {8, 16});
  const std::string text = plan_on("", x, w).explain();
  const bool has_fast_kernels =
      detail::is_from_intel() || text.find("oneDNN's matmul, brg") != std::string::npos;
  const bool is_first = backend() == Backend::openmp && detail::has_avx512() && has_fast_kernels;
  INFO(text);
  CHECK((text.find("onednn: chosen") != std::string::npos) == is_first);
  CHECK((text.find("kokkos_kernels: chosen") != std::string::npos) == !is_first);
}

TEST_CASE("onednn refuses dtypes and strides that oneDNN cannot take", "[invalid_input]") {
  if (is_left_out("onednn")) return;
  for (const DataType dtype : {DataType::float64, DataType::float16, DataType::bfloat16})
    check_error(
        Status::unsupported,
        [&] {
          plan_on("onednn", TestTensor(dtype, {8, 16}), TestTensor(dtype, {8, 16}));
        },
        "onednn: takes f32", name_of(dtype));
  const TestTensor good(DataType::float32, {8, 16});
  for (const Layout layout : {Layout::every_second, Layout::reversed}) {
    const TestTensor other(DataType::float32, {8, 16}, layout);
    check_error(
        Status::unsupported, [&] { plan_on("onednn", other, good); },
        "onednn: x has no unit stride");
    check_error(
        Status::unsupported, [&] { plan_on("onednn", good, other); },
        "onednn: w has no unit stride");
  }
}

TEST_CASE("onednn is within the error bound of a dot product, in every layout that it takes",
          "[conformance]") {
  if (is_left_out("onednn")) return;
  const std::int64_t sizes[][3] = {{1, 1, 1},      {1, 33, 5},    {33, 1, 5},     {3, 5, 1},
                                   {5, 7, 11},     {17, 19, 23},  {64, 64, 64},   {67, 41, 129},
                                   {2, 130, 1100}, {9, 70, 4097}, {128, 300, 257}};
  for (const auto& size : sizes)
    for (const Layout x : unit_stride_layouts)
      for (const Layout w : unit_stride_layouts)
        for (Settings settings : results_of(settings_on("onednn", size[0], size[1], size[2]))) {
          settings.x = x;
          settings.w = w;
          check_linear(settings);
        }
}

TEST_CASE("onednn is right for random sizes and layouts", "[conformance]") {
  if (is_left_out("onednn")) return;
  Random random;
  INFO(random.hint());
  for (int i = 0; i < 200; ++i) {
    Settings settings =
        settings_on("onednn", 1 + random.below(150), 1 + random.below(150), 1 + random.below(400));
    settings.x = unit_stride_layouts[random.below(4)];
    settings.w = unit_stride_layouts[random.below(4)];
    const std::vector<Settings> results = results_of(settings);
    check_linear(
        results[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(results.size())))]);
  }
}

TEST_CASE("onednn gives NaN, infinities and subnormal numbers where they belong",
          "[special_values]") {
  if (is_left_out("onednn")) return;
  const double infinity = std::numeric_limits<double>::infinity();
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  for (const Layout layout : unit_stride_layouts)
    for (Settings settings : results_of(settings_on("onednn", 24, 40, 64))) {
      settings.x = layout;
      settings.w = layout;
      Random random;
      INFO(random.hint());
      INFO(describe(settings));
      Workload workload(settings, "y");
      workload.fill_exact(random);
      TestTensor& x = workload.x();
      TestTensor& w = workload.w();
      x.set(infinity, 3, 2);
      w.set(0, 6, 2);  // infinity times zero
      x.set(not_a_number, 9, 0);
      x.set(infinity, 11, 1);
      x.set(-infinity, 11, 5);
      w.set(-infinity, 7, 8);
      w.set(not_a_number, 8, 40);
      for (std::int64_t k = 0; k < settings.k; ++k) {
        x.set(k == 7 ? std::ldexp(3, -140) : 0, 5, k);  // subnormal elements, and sums of them
        x.set(k < 4 ? std::ldexp(1, -60) : 0, 13, k);
        x.set(k < 2 ? std::ldexp(1, 126) : 0, 14, k);  // sums that overflow
        w.set(k < 4 ? std::ldexp(1, -85) : 0, 21, k);
        w.set(4, 22, k);
      }
      workload.execute();
      std::int64_t wrong = 0;
      for (std::int64_t m = 0; m < settings.m; ++m)
        for (std::int64_t n = 0; n < settings.n; ++n) {
          double sum = 0;
          for (std::int64_t k = 0; k < settings.k; ++k) sum += x.get(m, k) * w.get(n, k);
          const auto expected = static_cast<double>(static_cast<float>(sum));
          const double value = workload.output().get(m, n);
          const bool is_right = value == expected || (std::isnan(value) && std::isnan(expected));
          if (!is_right && wrong++ == 0)
            UNSCOPED_INFO("[" << m << ", " << n << "] is " << value << ", expected " << expected);
        }
      CHECK(wrong == 0);
      CHECK(workload.output().get(13, 21) == std::ldexp(1, -143));
    }
}

TEST_CASE("onednn gives zeros for K = 0 and nothing for M = 0 or N = 0", "[conformance]") {
  if (is_left_out("onednn")) return;
  const std::int64_t sizes[][3] = {{5, 7, 0}, {0, 7, 3}, {5, 0, 3}, {0, 0, 0}};
  for (const auto& size : sizes)
    for (const Settings& settings : results_of(settings_on("onednn", size[0], size[1], size[2]))) {
      INFO(describe(settings));
      Workload workload(settings, "y");
      workload.x().fill([] { return 1.0; });
      workload.w().fill([] { return 1.0; });
      workload.execute();
      for (const double value : workload.output().elements()) CHECK(value == 0);
    }
}

TEST_CASE("onednn takes batches, with one w for each or for all, with gaps and backwards",
          "[conformance]") {
  if (is_left_out("onednn")) return;
  const std::int64_t batch = 3, m = 19, n = 22, k = 10;
  Random random;
  INFO(random.hint());
  for (const bool shares_w : {false, true})
    for (const bool shares_x : {false, true})
      for (const bool is_backwards : {false, true})
        for (const std::int64_t gap : {0, 5}) {
          INFO("shares w " << shares_w << ", shares x " << shares_x << ", backwards "
                           << is_backwards << ", gap " << gap);
          const auto strides = [&](std::int64_t rows, std::int64_t columns, bool is_output) {
            const std::int64_t of_batch = rows * columns + gap;
            return std::vector<std::int64_t>{is_backwards && !is_output ? -of_batch : of_batch,
                                             columns, 1};
          };
          BatchedProduct product{
              TestTensor(DataType::float32, {batch, m, k}, strides(m, k, false)),
              shares_w ? TestTensor(DataType::float32, {n, k})
                       : TestTensor(DataType::float32, {batch, n, k}, strides(n, k, false)),
              TestTensor(DataType::float32, {batch, m, n}, strides(m, n, true))};
          product.x.fill([&] { return random.quarter(); });
          product.w.fill([&] { return random.quarter(); });
          product.x.upload();
          product.w.upload();
          product.out.upload();
          Tensor x = product.x.device();
          if (shares_x) {
            x.stride[0] = 0;
            for (std::int64_t b = 1; b < batch; ++b)
              for (std::int64_t row = 0; row < m; ++row)
                for (std::int64_t i = 0; i < k; ++i)
                  product.x.set(product.x.get(0, row, i), b, row, i);
          }
          PlanOptions options;
          options.engine = "onednn";
          const Plan plan(execution_space(), {x, product.w.device(), ComputeMode::automatic}, "y",
                          {}, options);
          plan.execute(Arguments{x, product.w.device(), {}, {product.out.device()}});
          fence();
          product.out.download();
          CHECK(wrong_elements(product, shares_w) == 0);
          CHECK(product.out.is_poison_around());
        }
}

TEST_CASE("onednn's y may lie otherwise than it was planned", "[conformance]") {
  if (is_left_out("onednn")) return;
  Random random;
  INFO(random.hint());
  Settings settings = settings_on("onednn", 37, 65, 131);
  for (const ResultLayout result : {ResultLayout::row_major, ResultLayout::column_major}) {
    settings.result = result;
    Workload workload(settings, "y");
    workload.fill_exact(random);
    workload.execute();
    const std::vector<double> expected = workload.output().elements();
    for (const std::int64_t gap : {0, 1, 7, 64}) {
      const bool by_rows = result == ResultLayout::row_major;
      TestTensor out(DataType::float32, {37, 65},
                     by_rows ? std::vector<std::int64_t>{65 + gap, 1}
                             : std::vector<std::int64_t>{1, 37 + gap});
      out.upload();
      Arguments arguments = workload.device_arguments();
      arguments.outputs[0] = out.device();
      for (int repeat = 0; repeat < 2; ++repeat) workload.plan().execute(arguments);
      fence();
      out.download();
      CHECK(out.elements() == expected);
      CHECK(out.is_poison_around());
    }
  }
}

TEST_CASE("onednn computes programs in panels, of which the last are smaller", "[conformance]") {
  if (is_left_out("onednn")) return;
  const std::vector<std::string> programs = {"y",
                                             "min(y + bias, c) - c",
                                             "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))",
                                             "softmax(y + residual, dim=1)",
                                             "return argmax(y, dim=1), sum(y * residual, dim=1)",
                                             "return argmin(y, dim=0), logsumexp(y * scale, dim=0)",
                                             "softmax(batch_norm(y), dim=1)"};
  Settings base = settings_on("onednn", 130, 257, 67);
  std::vector<Settings> list = results_of(base);
  base.x = base.w = Layout::column_major;
  list.push_back(base);
  base.batch = 5;
  base.m = 7;
  list.push_back(base);
  int cut = 0;
  for (const Settings& settings : list)
    for (const std::string& text : programs) {
      Random random;
      INFO(random.hint());
      MixedSettings mixed = settings_of(settings);
      const SmallPanels small(20000);
      INFO(text << ", " << describe(mixed));
      MixedWorkload workload(mixed, text, operands_of_every_kind());
      INFO(workload.plan().explain());
      if (workload.plan().implementation().plan().panels.cut != detail::PanelCut::none) ++cut;
      workload.fill_exact(random);
      workload.execute();
      workload.check();
    }
  CHECK(cut > 10);
}

TEST_CASE("onednn gives the same bits in every execution, from every thread", "[conformance]") {
  if (is_left_out("onednn")) return;
  Random random;
  INFO(random.hint());
  // Few columns and a long k: the sums themselves are shared out among threads.
  for (const Settings& size :
       {settings_on("onednn", 97, 203, 61), settings_on("onednn", 8, 16, 5000)}) {
    Settings settings = size;
    settings.x = Layout::column_major;
    INFO(describe(settings));
    Workload workload(settings, "y");
    workload.fill_real(random);
    workload.execute();
    const auto expected = workload.output_bytes();
    for (int repeat = 0; repeat < 3; ++repeat) {
      workload.execute();
      CHECK(workload.output_bytes() == expected);
    }
    const Workload other(settings, "y");
    constexpr std::size_t thread_count = 4;
    std::vector<TestTensor> outputs;
    for (std::size_t i = 0; i < thread_count; ++i) {
      outputs.emplace_back(DataType::float32, std::vector<std::int64_t>{settings.m, settings.n});
      outputs.back().upload();
    }
    std::vector<std::string> failures(thread_count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < thread_count; ++i)
      threads.emplace_back([&, i] {
        try {
          Arguments arguments = workload.device_arguments();
          arguments.outputs[0] = outputs[i].device();
          for (int repeat = 0; repeat < 5; ++repeat)
            (i % 2 == 0 ? workload : other).plan().execute(arguments);
        } catch (const std::exception& error) {
          failures[i] = error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < thread_count; ++i) {
      CHECK(failures[i].empty());
      outputs[i].download();
      CHECK(outputs[i].bytes() == expected[0]);
    }
  }
}

TEST_CASE("threads make the plan's primitives for another y at the same time", "[conformance]") {
  if (is_left_out("onednn")) return;
  Random random;
  INFO(random.hint());
  Workload workload(settings_on("onednn", 37, 65, 131), "y");
  workload.fill_exact(random);
  workload.execute();
  const std::vector<double> expected = workload.output().elements();
  constexpr std::size_t thread_count = 4;
  std::vector<TestTensor> outputs;
  for (std::size_t i = 0; i < thread_count; ++i) {
    outputs.emplace_back(DataType::float32, std::vector<std::int64_t>{37, 65},
                         std::vector<std::int64_t>{66 + static_cast<std::int64_t>(i / 2), 1});
    outputs.back().upload();
  }
  std::vector<std::thread> threads;
  for (TestTensor& out : outputs)
    threads.emplace_back([&] {
      Arguments arguments = workload.device_arguments();
      arguments.outputs[0] = out.device();
      workload.plan().execute(arguments);
    });
  for (std::thread& thread : threads) thread.join();
  for (TestTensor& out : outputs) {
    out.download();
    CHECK(out.elements() == expected);
  }
}

#ifdef _OPENMP
TEST_CASE("onednn is right whatever OpenMP's settings of the calling thread are", "[conformance]") {
  if (is_left_out("onednn")) return;
  Random random;
  INFO(random.hint());
  for (const Settings& settings :
       {settings_on("onednn", 97, 203, 61), settings_on("onednn", 8, 16, 5000)}) {
    Workload workload(settings, "y");
    workload.fill_exact(random);
    workload.execute();
    const std::vector<double> expected = workload.output().elements();
    const int threads = omp_get_max_threads();
    const int is_dynamic = omp_get_dynamic();
    for (const int fewer : {1, threads, threads + 1}) {
      omp_set_num_threads(fewer);
      omp_set_dynamic(1);
      workload.execute();
      CHECK(workload.output().elements() == expected);
      CHECK(omp_get_max_threads() == fewer);
      CHECK(omp_get_dynamic() != 0);
    }
    omp_set_num_threads(threads);
    omp_set_dynamic(is_dynamic);

    // In a parallel region, each thread with a result of its own.
    std::vector<TestTensor> outputs;
    for (int i = 0; i < 2; ++i) {
      outputs.emplace_back(DataType::float32, std::vector<std::int64_t>{settings.m, settings.n});
      outputs.back().upload();
    }
    const Arguments arguments = workload.device_arguments();
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 2; ++i) {
      Arguments own = arguments;
      own.outputs[0] = outputs[static_cast<std::size_t>(i)].device();
      workload.plan().execute(own);
    }
    for (TestTensor& out : outputs) {
      out.download();
      CHECK(out.elements() == expected);
    }
  }
}
#endif

namespace {

/// A workload with this w.
Workload with_w(const Settings& settings, const TestTensor& w, Random& random) {
  Workload workload(settings, "y");
  workload.fill_exact(random);
  workload.w().fill(w.elements());
  workload.w().upload();
  return workload;
}

}  // namespace

TEST_CASE("onednn's prepared weights serve every batch and leading dimension of y without w",
          "[conformance]") {
  if (is_left_out("onednn")) return;
  Random random;
  INFO(random.hint());
  const std::int64_t sizes[][2] = {{65, 131}, {203, 61}, {33, 1000}, {10, 5}, {300, 257}};
  for (const auto& [n, k] : sizes)
    for (const Layout w_layout : unit_stride_layouts) {
      Settings settings = settings_on("onednn", 8, n, k);
      settings.w = w_layout;
      Workload maker(settings, "y");
      maker.fill_exact(random);
      maker.w().upload();
      const PreparedWeights weights(maker.plan(), maker.w().device());
      // Where the kernels want w as it is, there is nothing to prepare.
      if (weights.bytes() == 0) continue;
      CHECK(weights.bytes() >= static_cast<std::size_t>(n * k) * sizeof(float));
      for (const std::int64_t m : {2, 8, 37, 130})
        for (const Layout x_layout : unit_stride_layouts)
          for (const bool is_padded : {false, true}) {
            settings.m = m;
            settings.x = x_layout;
            settings.has_padded_outputs = is_padded;
            INFO(describe(settings));
            Workload workload = with_w(settings, maker.w(), random);
            // The weights are of maker's w, which is not where this workload's is.
            check_prepared(workload, weights, false);
            count_case("onednn, prepared weights");
          }
    }
}

TEST_CASE("onednn's prepared weights are as they were when they were refreshed", "[conformance]") {
  if (is_left_out("onednn")) return;
  Random random;
  INFO(random.hint());
  Workload workload(settings_on("onednn", 19, 65, 131), "y");
  workload.fill_exact(random);
  workload.w().upload();
  PreparedWeights weights(workload.plan(), workload.w().device());
  check_prepared(workload, weights, true);
  workload.w().fill([&] { return random.quarter(); });
  workload.w().upload();
  weights.refresh(execution_space(), workload.w().device());
  check_prepared(workload, weights, true);
  check_prepared(workload, weights, false);
  // Refreshed from a w with other strides.
  TestTensor other(DataType::float32, {65, 131}, Layout::padded_columns);
  other.fill([&] { return random.quarter(); });
  other.upload();
  const LinearProblem problem{workload.x().device(), other.device(), ComputeMode::automatic};
  PlanOptions options;
  options.engine = "onednn";
  const PreparedWeights others(Plan(execution_space(), problem, "y", {}, options), other.device());
  workload.w().fill(other.elements());
  check_prepared(workload, others, false);
}

TEST_CASE("onednn's weights are prepared from a w of any strides", "[conformance]") {
  if (is_left_out("onednn")) return;
  Random random;
  INFO(random.hint());
  for (const Layout layout : {Layout::every_second, Layout::reversed, Layout::padded_columns}) {
    Workload workload(settings_on("onednn", 19, 65, 131), "y");
    workload.fill_exact(random);
    workload.w().upload();
    PreparedWeights weights(workload.plan(), workload.w().device());
    if (weights.bytes() == 0) continue;
    TestTensor other(DataType::float32, {65, 131}, layout);
    other.fill([&] { return random.quarter(); });
    other.upload();
    INFO(name_of(layout));
    weights.refresh(execution_space(), other.device());
    workload.w().fill(other.elements());
    check_prepared(workload, weights, false);
    // Of one row of numbers, which all rows share.
    Tensor shared = other.device();
    shared.stride[0] = 0;
    weights.refresh(execution_space(), shared);
    workload.w().fill([&, i = std::int64_t(0)]() mutable { return other.get(0, i++ % 131); });
    check_prepared(workload, weights, false);
  }
}

TEST_CASE("onednn's prepared weights keep NaN and infinities of w in their rows",
          "[special_values]") {
  if (is_left_out("onednn")) return;
  const double infinity = std::numeric_limits<double>::infinity();
  Random random;
  INFO(random.hint());
  Workload workload(settings_on("onednn", 19, 65, 131), "y");
  workload.fill_exact(random);
  workload.w().set(std::numeric_limits<double>::quiet_NaN(), 64, 130);
  workload.w().set(infinity, 7, 0);
  workload.x().set(-infinity, 18, 130);
  workload.x().set(std::numeric_limits<double>::quiet_NaN(), 3, 5);
  workload.w().upload();
  const PreparedWeights weights(workload.plan(), workload.w().device());
  check_prepared(workload, weights, false);
}

TEST_CASE("plans of onednn that cannot take weights read w beside them", "[conformance]") {
  if (is_left_out("onednn")) return;
  Random random;
  INFO(random.hint());
  Workload maker(settings_on("onednn", 8, 65, 131), "y");
  maker.fill_exact(random);
  maker.w().upload();
  const PreparedWeights weights(maker.plan(), maker.w().device());
  CHECK(weights.bytes() > 0);
  const auto check = [&](const Settings& settings) {
    INFO(describe(settings));
    Workload workload(settings, "y");
    INFO(workload.plan().explain());
    workload.fill_exact(random);
    workload.x().upload();
    workload.output().upload();
    Arguments arguments = workload.device_arguments();
    arguments.w = maker.w().device();
    arguments.prepared_weights = &weights;
    workload.plan().execute(arguments);
    fence();
    workload.output().download();
    Array expected = detail::reference::multiply(workload.x().host(), maker.w().host());
    check_elements(workload.output(), expected, Array(expected.shape));
    arguments.w.data = nullptr;
    check_error(
        Status::invalid_argument, [&] { workload.plan().execute(arguments); }, "w", "null");
    CHECK(PreparedWeights(workload.plan(), maker.w().device()).bytes() == 0);
  };
  check(settings_on("onednn", 1, 65, 131));
  Settings by_columns = settings_on("onednn", 19, 65, 131);
  by_columns.result = ResultLayout::column_major;
  check(by_columns);
  const SmallPanels small(800);
  Settings in_panels = settings_on("onednn", 19, 65, 131);
  in_panels.result = ResultLayout::any;
  check(in_panels);
}
