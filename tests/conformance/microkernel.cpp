#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <postlude/prepared_weights.hpp>

#include "execute/plan_implementation.hpp"
#include "gemm/avx512_kernels.hpp"
#include "gemm/processor.hpp"
#include "gemm/thread_items.hpp"
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

// The engine microkernel, forced by name. Where the build, the backend or the processor has none, a
// warning says so.

namespace {

constexpr Layout every_layout[] = {Layout::row_major,    Layout::column_major,
                                   Layout::padded_rows,  Layout::padded_columns,
                                   Layout::every_second, Layout::reversed};

/// A workload with this w.
Workload with_w(const Settings& settings, const TestTensor& w, Random& random) {
  Workload workload(settings, "y");
  workload.fill_exact(random);
  workload.w().fill(w.elements());
  workload.w().upload();
  return workload;
}

}  // namespace

TEST_CASE("microkernel is refused with the reason where the build, backend or processor has none",
          "[conformance]") {
  const TestTensor x(DataType::float32, {8, 16});
  const TestTensor w(DataType::float32, {8, 16});
  const bool is_there = (backend() == Backend::openmp || backend() == Backend::serial) &&
                        detail::has_avx512_kernels() && detail::has_avx512();
  CHECK(refusal_of("microkernel").empty() == is_there);
  if (is_there)
    CHECK(plan_on("microkernel", x, w).explain().find("microkernel: chosen (") !=
          std::string::npos);
  else
    check_error(
        Status::unsupported, [&] { plan_on("microkernel", x, w); }, "microkernel: ");
}

TEST_CASE("microkernel refuses other dtypes than f32", "[invalid_input]") {
  if (is_left_out("microkernel")) return;
  for (const DataType dtype : {DataType::float64, DataType::float16, DataType::bfloat16})
    check_error(
        Status::unsupported,
        [&] {
          plan_on("microkernel", TestTensor(dtype, {8, 16}), TestTensor(dtype, {8, 16}));
        },
        "microkernel: takes f32", name_of(dtype));
}

TEST_CASE("microkernel is chosen by itself on OpenMP where w is large and x smaller",
          "[conformance]") {
  if (is_left_out("microkernel")) return;
  const auto is_chosen = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    const TestTensor x(DataType::float32, {m, k});
    const TestTensor w(DataType::float32, {n, k});
    const std::string text = plan_on("", x, w).explain();
    INFO(text);
    return text.find("microkernel: chosen") != std::string::npos;
  };
  const bool is_first = backend() == Backend::openmp;
  CHECK(is_chosen(9, 1024, 1024) == is_first);
  CHECK(is_chosen(256, 1024, 1024) == is_first);
  CHECK_FALSE(is_chosen(257, 1024, 1024));
  CHECK_FALSE(is_chosen(128, 1023, 1024));
  CHECK_FALSE(is_chosen(128, 1024, 1023));
}

TEST_CASE("microkernel is within the error bound of a dot product, in every layout",
          "[conformance]") {
  if (is_left_out("microkernel")) return;
  // Around 6 rows of w, 16 lanes and 64 of x, 128 columns of y and 512 of K.
  const std::int64_t sizes[][3] = {{1, 1, 1},     {1, 33, 5},     {33, 1, 5},    {3, 5, 1},
                                   {5, 7, 11},    {17, 19, 23},   {64, 64, 64},  {67, 41, 129},
                                   {16, 6, 512},  {2, 130, 1100}, {9, 70, 4097}, {128, 300, 257},
                                   {300, 13, 513}};
  for (const auto& size : sizes)
    for (const Layout x : every_layout)
      for (const Layout w : every_layout)
        for (Settings settings :
             results_of(settings_on("microkernel", size[0], size[1], size[2]))) {
          settings.x = x;
          settings.w = w;
          check_linear(settings);
        }
}

TEST_CASE("microkernel is right for random sizes and layouts", "[conformance]") {
  if (is_left_out("microkernel")) return;
  Random random;
  INFO(random.hint());
  for (int i = 0; i < 200; ++i) {
    Settings settings = settings_on("microkernel", 1 + random.below(300), 1 + random.below(150),
                                    1 + random.below(700));
    settings.x = every_layout[random.below(6)];
    settings.w = every_layout[random.below(6)];
    const std::vector<Settings> results = results_of(settings);
    check_linear(
        results[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(results.size())))]);
  }
}

TEST_CASE("microkernel packs an x of a very long K in parts", "[conformance]") {
  if (is_left_out("microkernel")) return;
  // More than 16 MB of x for 64 rows.
  Settings settings = settings_on("microkernel", 130, 3, 70000);
  check_linear(settings);
  settings.batch = 2;
  settings.m = 3;
  check_linear(settings);
}

TEST_CASE("microkernel gives NaN, infinities and subnormal numbers where they belong",
          "[special_values]") {
  if (is_left_out("microkernel")) return;
  const double infinity = std::numeric_limits<double>::infinity();
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  for (const Layout layout : every_layout)
    for (Settings settings : results_of(settings_on("microkernel", 24, 41, 67))) {
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
      x.set(not_a_number, 23, 66);  // the last, beside lanes that are not there
      x.set(infinity, 11, 1);
      x.set(-infinity, 11, 5);
      w.set(-infinity, 7, 8);
      w.set(not_a_number, 8, 40);
      w.set(not_a_number, 40, 66);
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

TEST_CASE("microkernel gives zeros for K = 0 and nothing for M = 0 or N = 0", "[conformance]") {
  if (is_left_out("microkernel")) return;
  const std::int64_t sizes[][3] = {{5, 7, 0}, {0, 7, 3}, {5, 0, 3}, {0, 0, 0}};
  for (const auto& size : sizes)
    for (const Settings& settings :
         results_of(settings_on("microkernel", size[0], size[1], size[2]))) {
      INFO(describe(settings));
      Workload workload(settings, "y");
      workload.x().fill([] { return 1.0; });
      workload.w().fill([] { return 1.0; });
      workload.execute();
      for (const double value : workload.output().elements()) CHECK(value == 0);
    }
}

TEST_CASE("microkernel takes batches, with one w for each or for all, with gaps and backwards",
          "[conformance]") {
  if (is_left_out("microkernel")) return;
  const std::int64_t batch = 3, n = 22, k = 10;
  Random random;
  INFO(random.hint());
  for (const std::int64_t m : {19, 270})
    for (const bool shares_w : {false, true})
      for (const bool shares_x : {false, true})
        for (const std::int64_t gap : {-1, 0, 5}) {
          INFO("M " << m << ", shares w " << shares_w << ", shares x " << shares_x << ", gap "
                    << gap);
          // A gap of -1: backwards.
          const auto strides = [&](std::int64_t rows, std::int64_t columns) {
            const std::int64_t of_batch = gap < 0 ? -rows * columns : rows * columns + gap;
            return std::vector<std::int64_t>{of_batch, columns, 1};
          };
          TestTensor x(DataType::float32, {batch, m, k}, strides(m, k));
          TestTensor w = shares_w ? TestTensor(DataType::float32, {n, k})
                                  : TestTensor(DataType::float32, {batch, n, k}, strides(n, k));
          TestTensor out(DataType::float32, {batch, m, n}, {m * n + 7, n, 1});
          for (TestTensor* const tensor : {&x, &w}) {
            tensor->fill([&] { return random.quarter(); });
            tensor->upload();
          }
          out.upload();
          Tensor of_x = x.device();
          if (shares_x) of_x.stride[0] = 0;
          PlanOptions options;
          options.engine = "microkernel";
          const Plan plan(execution_space(), {of_x, w.device(), ComputeMode::automatic}, "y", {},
                          options);
          plan.execute(Arguments{of_x, w.device(), {}, {out.device()}});
          fence();
          out.download();
          std::int64_t wrong = 0;
          for (std::int64_t b = 0; b < batch; ++b)
            for (std::int64_t i = 0; i < m; ++i)
              for (std::int64_t j = 0; j < n; ++j) {
                double sum = 0;
                for (std::int64_t l = 0; l < k; ++l)
                  sum += x.get(shares_x ? 0 : b, i, l) * (shares_w ? w.get(j, l) : w.get(b, j, l));
                wrong += out.get(b, i, j) == sum ? 0 : 1;
              }
          CHECK(wrong == 0);
          CHECK(out.is_poison_around());
        }
}

TEST_CASE("microkernel's y may lie otherwise than it was planned", "[conformance]") {
  if (is_left_out("microkernel")) return;
  Random random;
  INFO(random.hint());
  Settings settings = settings_on("microkernel", 37, 65, 131);
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
      workload.plan().execute(arguments);
      fence();
      out.download();
      CHECK(out.elements() == expected);
      CHECK(out.is_poison_around());
    }
  }
}

TEST_CASE("microkernel computes programs in panels, with and without prepared weights",
          "[conformance]") {
  if (is_left_out("microkernel")) return;
  const std::vector<std::string> programs = {"y",
                                             "min(y + bias, c) - c",
                                             "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))",
                                             "softmax(y + residual, dim=1)",
                                             "return argmax(y, dim=1), sum(y * residual, dim=1)",
                                             "return argmin(y, dim=0), logsumexp(y * scale, dim=0)",
                                             "softmax(batch_norm(y), dim=1)"};
  Settings base = settings_on("microkernel", 130, 257, 67);
  std::vector<Settings> list = results_of(base);
  base.x = base.w = Layout::column_major;
  list.push_back(base);
  base.m = 300;
  base.n = 40;
  list.push_back(base);
  base.batch = 5;
  base.m = 7;
  list.push_back(base);
  int by_threads = 0, one_by_one = 0;
  for (const Settings& settings : list)
    for (const std::string& text : programs)
      for (const bool has_threads : {false, true}) {
        Random random;
        INFO(random.hint());
        MixedSettings mixed = settings_of(settings);
        const SmallPanels small(20000, has_threads);
        INFO(text << ", " << describe(mixed));
        MixedWorkload workload(mixed, text, operands_of_every_kind());
        INFO(workload.plan().explain());
        const detail::Panels& panels = workload.plan().implementation().plan().panels;
        if (panels.cut != detail::PanelCut::none)
          ++(panels.is_by_threads ? by_threads : one_by_one);
        if (panels.is_by_threads) CHECK(panels.cut == detail::PanelCut::columns);
        workload.fill_exact(random);
        workload.execute();
        workload.check();
      }
  CHECK(one_by_one > 10);
  INFO(by_threads << " by threads, " << one_by_one << " one by one");
  const bool has_more = detail::thread_count(execution_space()) > 1;
  CHECK((by_threads > 5) == (backend() == Backend::openmp && has_more));
}

TEST_CASE("microkernel gives the same bits in every execution, from every thread",
          "[conformance]") {
  if (is_left_out("microkernel")) return;
  Random random;
  INFO(random.hint());
  for (const Settings& size :
       {settings_on("microkernel", 97, 203, 61), settings_on("microkernel", 8, 16, 5000)}) {
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
          for (int repeat = 0; repeat < 5; ++repeat) workload.plan().execute(arguments);
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

#ifdef _OPENMP
TEST_CASE("microkernel is right whatever OpenMP's settings of the calling thread are",
          "[conformance]") {
  if (is_left_out("microkernel")) return;
  Random random;
  INFO(random.hint());
  Workload workload(settings_on("microkernel", 97, 203, 61), "relu(y)");
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
  }
  omp_set_num_threads(threads);
  omp_set_dynamic(is_dynamic);

  // In a parallel region, each thread with a result of its own.
  std::vector<TestTensor> outputs;
  for (int i = 0; i < 2; ++i) {
    outputs.emplace_back(DataType::float32, std::vector<std::int64_t>{97, 203});
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
#endif

#ifdef __linux__
namespace {

/// Pages of which the first and the last are nobody's: what lies between begins or ends where
/// nothing may be read.
class GuardedMemory {
 public:
  GuardedMemory(std::size_t bytes, bool is_at_end) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (bytes + page - 1) / page * page;
    all_ = inner + 2 * page;
    begin_ = static_cast<char*>(
        mmap(nullptr, all_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(begin_ != MAP_FAILED);
    REQUIRE(mprotect(begin_, page, PROT_NONE) == 0);
    REQUIRE(mprotect(begin_ + page + inner, page, PROT_NONE) == 0);
    data_ = begin_ + page + (is_at_end ? inner - bytes : 0);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { munmap(begin_, all_); }

  Tensor holding(Tensor tensor) const {
    std::memcpy(data_, tensor.data, bytes_);
    tensor.data = data_;
    return tensor;
  }

 private:
  std::size_t bytes_;
  std::size_t all_ = 0;
  char* begin_ = nullptr;
  char* data_ = nullptr;
};

}  // namespace

TEST_CASE("microkernel touches nothing before or behind x, w and y", "[conformance]") {
  if (is_left_out("microkernel")) return;
  const std::int64_t sizes[][3] = {{1, 1, 1},    {5, 7, 3},      {17, 33, 15}, {16, 6, 16},
                                   {65, 13, 67}, {130, 129, 33}, {3, 50, 515}};
  Random random;
  INFO(random.hint());
  for (const auto& [m, n, k] : sizes)
    for (const bool is_transposed : {false, true})
      for (const bool is_at_end : {false, true}) {
        INFO(m << "x" << n << "x" << k << ", transposed " << is_transposed << ", at the end "
               << is_at_end);
        const Layout layout = is_transposed ? Layout::column_major : Layout::row_major;
        TestTensor x(DataType::float32, {m, k}, layout), w(DataType::float32, {n, k}, layout);
        TestTensor out(DataType::float32, {m, n}, layout);
        for (TestTensor* const tensor : {&x, &w, &out}) {
          tensor->fill([&] { return random.quarter(); });
          tensor->upload();
        }
        const auto bytes = [](std::int64_t elements) {
          return static_cast<std::size_t>(elements) * sizeof(float);
        };
        const GuardedMemory of_x(bytes(m * k), is_at_end), of_w(bytes(n * k), is_at_end),
            of_y(bytes(m * n), is_at_end);
        const Tensor guarded_x = of_x.holding(x.device()), guarded_w = of_w.holding(w.device());
        const Tensor guarded_y = of_y.holding(out.device());
        PlanOptions options;
        options.engine = "microkernel";
        options.layout = is_transposed ? ResultLayout::column_major : ResultLayout::row_major;
        const Plan plan(execution_space(), {guarded_x, guarded_w, ComputeMode::automatic}, "y", {},
                        options);
        plan.execute(Arguments{guarded_x, guarded_w, {}, {guarded_y}});
        const PreparedWeights weights(plan, guarded_w);
        Arguments prepared{guarded_x, guarded_w, {}, {out.device()}};
        prepared.prepared_weights = &weights;
        plan.execute(prepared);
        out.download();
        CHECK(std::memcmp(guarded_y.data, out.device().data, bytes(m * n)) == 0);
        const Array expected = detail::reference::multiply(x.host(), w.host());
        check_elements(out, expected, Array(expected.shape));
      }
}
#endif

TEST_CASE("microkernel's prepared weights serve every batch and leading dimension of y without w",
          "[conformance]") {
  if (is_left_out("microkernel")) return;
  Random random;
  INFO(random.hint());
  const std::int64_t sizes[][2] = {{65, 131}, {33, 1100}, {10, 5}, {300, 512}, {1, 513}};
  for (const auto& [n, k] : sizes)
    for (const Layout w_layout : every_layout) {
      Settings settings = settings_on("microkernel", 8, n, k);
      settings.w = w_layout;
      Workload maker(settings, "y");
      maker.fill_exact(random);
      maker.w().upload();
      const PreparedWeights weights(maker.plan(), maker.w().device());
      CHECK(weights.bytes() == static_cast<std::size_t>(n * k) * sizeof(float));
      for (const std::int64_t m : {1, 8, 37, 130, 300})
        for (const Layout x_layout : {Layout::row_major, Layout::padded_columns})
          for (const Settings& result : results_of(settings)) {
            Settings other = result;
            other.m = m;
            other.x = x_layout;
            INFO(describe(other));
            Workload workload = with_w(other, maker.w(), random);
            // The weights are of maker's w, which is not where this workload's is.
            check_prepared(workload, weights, false);
            count_case("microkernel, prepared weights");
          }
    }
}

TEST_CASE("microkernel's panels find their part of the prepared weights", "[conformance]") {
  if (is_left_out("microkernel")) return;
  Random random;
  INFO(random.hint());
  for (const bool has_threads : {false, true}) {
    const SmallPanels small(20000, has_threads);
    for (const ResultLayout result : {ResultLayout::row_major, ResultLayout::any}) {
      Settings settings = settings_on("microkernel", 130, 257, 600);
      settings.result = result;
      Workload workload(settings, "y");
      INFO(workload.plan().explain());
      workload.fill_exact(random);
      workload.w().upload();
      const PreparedWeights weights(workload.plan(), workload.w().device());
      check_prepared(workload, weights, false);
    }
  }
}

TEST_CASE("microkernel's prepared weights are as they were when they were refreshed",
          "[conformance]") {
  if (is_left_out("microkernel")) return;
  Random random;
  INFO(random.hint());
  Workload workload(settings_on("microkernel", 19, 65, 131), "y");
  workload.fill_exact(random);
  workload.w().upload();
  PreparedWeights weights(workload.plan(), workload.w().device());
  check_prepared(workload, weights, true);
  workload.w().fill([&] { return random.quarter(); });
  workload.w().upload();
  weights.refresh(execution_space(), workload.w().device());
  check_prepared(workload, weights, true);
  check_prepared(workload, weights, false);
  // Refreshed from a w with other strides, and from one row of numbers, which all rows share.
  for (const Layout layout : {Layout::every_second, Layout::reversed, Layout::padded_columns}) {
    TestTensor other(DataType::float32, {65, 131}, layout);
    other.fill([&] { return random.quarter(); });
    other.upload();
    INFO(name_of(layout));
    weights.refresh(execution_space(), other.device());
    workload.w().fill(other.elements());
    check_prepared(workload, weights, false);
    Tensor shared = other.device();
    shared.stride[0] = 0;
    weights.refresh(execution_space(), shared);
    workload.w().fill([&, i = std::int64_t(0)]() mutable { return other.get(0, i++ % 131); });
    check_prepared(workload, weights, false);
  }
}

TEST_CASE("plans of microkernel for a batch of problems read w beside prepared weights",
          "[conformance]") {
  if (is_left_out("microkernel")) return;
  Random random;
  INFO(random.hint());
  Settings settings = settings_on("microkernel", 7, 20, 30);
  settings.batch = 3;
  Workload workload(settings, "y");
  workload.fill_exact(random);
  workload.execute();
  const std::vector<double> expected = workload.output().elements();
  const PreparedWeights weights(workload.plan(), workload.w().device());
  CHECK(weights.bytes() == 0);
  Arguments arguments = workload.device_arguments();
  arguments.prepared_weights = &weights;
  workload.plan().execute(arguments);
  fence();
  workload.output().download();
  CHECK(workload.output().elements() == expected);
}
