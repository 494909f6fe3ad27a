#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <postlude/error.hpp>
#include <postlude/execution_space.hpp>
#include <postlude/plan.hpp>
#include <postlude/prepared_weights.hpp>

#include "support/backend.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/mixed_workload.hpp"
#include "support/random.hpp"
#include "support/test_tensor.hpp"

using namespace postlude;
using namespace postlude::test;

// The engines on tensor cores, forced by name. Where the backend has none of them, a warning says
// what was left out.

namespace {

struct Problem {
  DataType dtype = DataType::float32;
  ComputeMode compute = ComputeMode::automatic;
  const char* engine = "";
};

const Problem split{DataType::float32, ComputeMode::f32_emulated_f16x3, "split"};

std::vector<Problem> vendor_problems() {
  return {{DataType::float16, ComputeMode::automatic, "cublaslt"},
          {DataType::bfloat16, ComputeMode::automatic, "cublaslt"},
          {DataType::float32, ComputeMode::f32_fast_tf32, "cublaslt"},
          {DataType::float32, ComputeMode::f32, "cublaslt"}};
}

/// Those whose float32 is computed in float16 parts, and promoted on the way.
std::vector<Problem> hopper_problems_in_parts() {
  return {{DataType::float32, ComputeMode::f32, "hopper"},
          {DataType::float32, ComputeMode::f32_emulated_f16x3, "hopper"}};
}

/// Those and split.
std::vector<Problem> parts_problems() {
  std::vector<Problem> problems = hopper_problems_in_parts();
  problems.push_back(split);
  return problems;
}

std::vector<Problem> hopper_problems() {
  std::vector<Problem> problems = hopper_problems_in_parts();
  problems.push_back({DataType::float16, ComputeMode::automatic, "hopper"});
  problems.push_back({DataType::bfloat16, ComputeMode::automatic, "hopper"});
  return problems;
}

/// All engines on tensor cores, in all of their modes.
std::vector<Problem> all_problems() {
  std::vector<Problem> problems = vendor_problems();
  problems.push_back(split);
  for (const Problem& problem : hopper_problems()) problems.push_back(problem);
  return problems;
}

bool is_hopper(const Problem& problem) { return std::string(problem.engine) == "hopper"; }

std::string describe(const Problem& problem) {
  return std::string(problem.engine) + ", " + name_of(problem.dtype) + ", " +
         name_of(problem.compute);
}

PlanOptions forced(const Problem& problem, ResultLayout layout = ResultLayout::row_major) {
  PlanOptions options;
  options.engine = problem.engine;
  options.layout = layout;
  return options;
}

Plan plan_of(const Problem& problem, const TestTensor& x, const TestTensor& w,
             ResultLayout layout = ResultLayout::row_major, const std::string& text = "y") {
  return Plan(execution_space(), {x.device(), w.device(), problem.compute}, text, {},
              forced(problem, layout));
}

/// Why the engines on tensor cores refuse an ordinary problem here, "" when they do not.
std::string refusal(const Problem& problem) {
  const TestTensor x(problem.dtype, {8, 16});
  const TestTensor w(problem.dtype, {8, 16});
  try {
    plan_of(problem, x, w);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

bool is_skipped(const Problem& problem) {
  const std::string reason = refusal(problem);
  if (reason.empty()) return false;
  WARN("left out: " << reason);
  return true;
}

/// x w^T in float64 and the sums of magnitudes.
struct Expected {
  double value = 0;
  double magnitude = 0;
};

Expected expected(const TestTensor& x, const TestTensor& w, std::int64_t m, std::int64_t n) {
  Expected sum;
  for (std::int64_t k = 0; k < x.extent(1); ++k) {
    const double product = element(x, m, k) * element(w, n, k);
    sum.value += product;
    sum.magnitude += std::abs(product);
  }
  return sum;
}

/// Elements of `out` that are farther from x w^T than `factor` times the sum of magnitudes, or
/// whose NaN or infinity is another. Beyond float32's range an infinity is right.
std::int64_t violations(const TestTensor& x, const TestTensor& w, const TestTensor& out,
                        double factor, std::string& first) {
  const auto largest = static_cast<double>(std::numeric_limits<float>::max());
  std::int64_t count = 0;
  for (std::int64_t m = 0; m < x.extent(0); ++m)
    for (std::int64_t n = 0; n < w.extent(0); ++n) {
      const Expected sum = expected(x, w, m, n);
      const double value = element(out, m, n);
      const bool is_right = std::isnan(sum.value) ? std::isnan(value)
                            : std::abs(sum.value) > largest
                                ? std::isinf(value) && (value > 0) == (sum.value > 0)
                            : std::isfinite(sum.magnitude)
                                ? std::abs(value - sum.value) <= factor * sum.magnitude + 1.5e-45
                                : value == sum.value;
      if (is_right) continue;
      if (count++ == 0)
        first = "[" + std::to_string(m) + ", " + std::to_string(n) + "] is " +
                std::to_string(value) + ", expected " + std::to_string(sum.value);
    }
  return count;
}

/// Parts keep 2^-21 of every product, and twice a tensor core truncates each of K/16 sums, in units
/// of the last place of the largest term.
double split_error(std::int64_t k) { return 0x1p-20 + static_cast<double>(k) * 0x1p-23; }

void check_product(const Problem& problem, TestTensor& x, TestTensor& w, TestTensor& out,
                   ResultLayout layout, double factor) {
  x.upload();
  w.upload();
  const Plan plan = plan_of(problem, x, w, layout);
  plan.execute(Arguments{x.device(), w.device(), {}, {out.device()}});
  fence();
  out.download();
  std::string first;
  const std::int64_t wrong = violations(x, w, out, factor, first);
  INFO(first);
  CHECK(wrong == 0);
  CHECK(out.is_poison_around());
}

struct Size {
  std::int64_t m, n, k;
};

const std::vector<Size>& sizes() {
  static const std::vector<Size> list = {{1, 1, 1},     {1, 1, 9},     {1, 33, 5},   {33, 1, 5},
                                         {3, 5, 1},     {17, 19, 23},  {64, 64, 64}, {37, 65, 131},
                                         {130, 67, 40}, {5, 12, 1100}, {259, 36, 8}};
  return list;
}

TestTensor output(DataType dtype, const Size& size, ResultLayout layout, bool is_padded) {
  const bool by_columns = layout == ResultLayout::column_major;
  return TestTensor(dtype, {size.m, size.n},
                    is_padded ? (by_columns ? Layout::padded_columns : Layout::padded_rows)
                              : (by_columns ? Layout::column_major : Layout::row_major));
}

}  // namespace

TEST_CASE("engines on tensor cores are refused on other backends with the reason",
          "[conformance]") {
  for (const Problem& problem : all_problems()) {
    INFO(describe(problem));
    const TestTensor x(problem.dtype, {8, 16});
    const TestTensor w(problem.dtype, {8, 16});
    if (backend() == Backend::cuda && refusal(problem).empty()) {
      CHECK(plan_of(problem, x, w).explain().find(std::string(problem.engine) + ": chosen") !=
            std::string::npos);
      continue;
    }
    check_error(
        Status::unsupported, [&] { plan_of(problem, x, w); }, problem.engine,
        is_hopper(problem) ? "compute capability 9.0" : "compute capability 8.0");
    if (problem.compute == ComputeMode::automatic || problem.compute == ComputeMode::f32) continue;
    Problem any = problem;
    any.engine = "";
    check_error(
        Status::unsupported, [&] { plan_of(any, x, w); }, "kokkos_kernels",
        name_of(problem.compute), "cublaslt", "split");
  }
}

TEST_CASE("modes of float32 are refused for other dtypes", "[conformance]") {
  for (const DataType dtype : {DataType::float64, DataType::float16, DataType::bfloat16})
    for (const ComputeMode compute :
         {ComputeMode::f32_emulated_f16x3, ComputeMode::f32_fast_tf32}) {
      const TestTensor x(dtype, {8, 16});
      const TestTensor w(dtype, {8, 16});
      check_error(
          Status::unsupported,
          [&] {
            plan_of({dtype, compute, ""}, x, w);
          },
          name_of(compute), name_of(dtype));
    }
}

TEST_CASE("16-bit floats are multiplied on tensor cores unless f32 is asked for", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float16, DataType::bfloat16);
  if (is_skipped({dtype, ComputeMode::automatic, "cublaslt"})) return;
  const TestTensor x(dtype, {8, 16});
  const TestTensor w(dtype, {8, 16});
  const auto explained = [&](ComputeMode compute) {
    return plan_of({dtype, compute, ""}, x, w).explain();
  };
  CHECK(explained(ComputeMode::automatic).find("cublaslt: chosen") != std::string::npos);
  CHECK(explained(ComputeMode::f32).find("cublaslt: refused") != std::string::npos);
  CHECK(explained(ComputeMode::f32).find("kokkos_kernels: chosen") != std::string::npos);
}

TEST_CASE("cublaslt computes exact products exactly, in every layout", "[conformance]") {
  Random random;
  INFO(random.hint());
  for (const Problem& problem : vendor_problems()) {
    if (is_skipped(problem)) continue;
    for (const Size& size : sizes())
      for (const Layout x_layout :
           {Layout::row_major, Layout::column_major, Layout::padded_rows, Layout::padded_columns})
        for (const Layout w_layout : {Layout::row_major, Layout::column_major})
          for (const ResultLayout layout :
               {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any})
            for (const bool is_padded : {false, true}) {
              INFO(describe(problem)
                   << ", " << size.m << "x" << size.n << "x" << size.k << ", x "
                   << name_of(x_layout) << ", w " << name_of(w_layout) << ", results "
                   << static_cast<int>(layout) << ", padded " << is_padded);
              TestTensor x(problem.dtype, {size.m, size.k}, x_layout);
              TestTensor w(problem.dtype, {size.n, size.k}, w_layout);
              fill(x, [&] { return random.quarter(); });
              fill(w, [&] { return random.quarter(); });
              // float32 results show y as it is; in the layout `any` they are possible.
              const DataType stored =
                  layout == ResultLayout::any ? DataType::float32 : problem.dtype;
              TestTensor out = output(stored, size, layout, is_padded);
              const double rounding = stored == DataType::bfloat16  ? 0x1p-8
                                      : stored == DataType::float16 ? 0x1p-11
                                                                    : 0;
              check_product(problem, x, w, out, layout, rounding);
            }
  }
}

TEST_CASE("cublaslt gives NaN and infinities where float32 does", "[conformance]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  Random random;
  INFO(random.hint());
  for (const Problem& problem : vendor_problems()) {
    if (is_skipped(problem)) continue;
    INFO(describe(problem));
    const Size size{24, 40, 64};
    TestTensor x(problem.dtype, {size.m, size.k});
    TestTensor w(problem.dtype, {size.n, size.k});
    fill(x, [&] { return random.quarter(); });
    fill(w, [&] { return random.quarter(); });
    x.set(infinity, 3, 2);
    w.set(0, 6, 2);  // infinity times zero
    x.set(not_a_number, 9, 0);
    x.set(infinity, 11, 1);
    x.set(-infinity, 11, 5);
    w.set(-infinity, 7, 8);
    w.set(not_a_number, 8, 40);
    TestTensor out(DataType::float32, {size.m, size.n});
    check_product(problem, x, w, out, ResultLayout::any, 0);
  }
}

TEST_CASE("what a GEMM takes in of an epilogue is what a sweep makes of it", "[conformance]") {
  Random random;
  INFO(random.hint());
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DataType dtype : {DataType::float32, DataType::float16, DataType::bfloat16})
    for (const std::string text :
         {"y", "y + b", "relu(y)", "relu(b + y)", "gelu_tanh(y)", "gelu_tanh(y + b)",
          "relu(y + b) + 0", "relu(y) + b", "z = relu(y + b); return z, y"})
      for (const OperandKind kind : {OperandKind::row, OperandKind::column})
        for (const ResultLayout layout :
             {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any})
          for (const bool is_padded : {false, true}) {
            Settings settings;
            settings.dtype = dtype;
            settings.m = 40;
            settings.n = 72;
            settings.k = 48;
            settings.result = layout;
            settings.has_padded_outputs = is_padded;
            MixedWorkload workload(settings_of(settings), text, {{"b", kind}});
            INFO(describe(settings) << "\n" << text << "\n" << workload.plan().explain());
            workload.fill_exact(random);
            set_element(workload.x(), infinity, 3, 2);
            set_element(workload.x(), -infinity, 5, 2);
            set_element(workload.x(), std::nan(""), 9, 0);
            workload.execute();
            workload.check();
          }
}

TEST_CASE("a bias is added to a single row or column of y as a sweep adds it", "[conformance]") {
  Random random;
  INFO(random.hint());
  for (const DataType dtype : {DataType::float32, DataType::float16, DataType::bfloat16})
    for (const bool is_row : {false, true})
      for (const OperandKind kind : {OperandKind::row, OperandKind::column})
        for (const ResultLayout layout :
             {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any}) {
          Settings settings;
          settings.dtype = dtype;
          settings.m = is_row ? 1 : 271;
          settings.n = is_row ? 271 : 1;
          settings.k = 48;
          settings.result = layout;
          MixedWorkload workload(settings_of(settings), "y + b", {{"b", kind}});
          INFO(describe(settings) << "\n" << workload.plan().explain());
          workload.fill_exact(random);
          workload.execute();
          workload.check();
        }
}

TEST_CASE("a GEMM takes in a bias where that is the whole epilogue", "[conformance]") {
  struct Case {
    const char* text;
    OperandKind kind;
    ResultLayout layout;
    const char* taken;  ///< "" for nothing
  };
  const auto row = OperandKind::row;
  const auto column = OperandKind::column;
  const auto rows = ResultLayout::row_major;
  const auto columns = ResultLayout::column_major;
  const Case cases[] = {{"y + b", row, rows, "bias"},
                        {"b + y", row, rows, "bias"},
                        {"y + b", column, columns, "bias"},
                        {"y + b", column, rows, ""},
                        {"y + b", row, columns, ""},
                        {"relu(y)", row, rows, ""},
                        {"relu(y + b)", row, rows, ""},
                        {"gelu_tanh(y + b)", row, rows, ""},
                        {"y - b", row, rows, ""},
                        {"y + b + b", row, rows, ""},
                        {"sum(y + b, dim=1)", row, rows, ""},
                        {"z = y + b; return z, y", row, rows, ""}};
  for (const Problem& problem : vendor_problems()) {
    if (is_skipped(problem)) continue;
    const TestTensor x(problem.dtype, {40, 48});
    const TestTensor w(problem.dtype, {72, 48});
    for (const Case& each : cases) {
      const Plan plan(execution_space(), {x.device(), w.device(), problem.compute}, each.text,
                      {{"b", each.kind}}, forced(problem, each.layout));
      const std::string text = plan.explain();
      INFO(describe(problem) << ", " << each.text << "\n" << text);
      const std::string taken = std::string("takes in stage 1: ") + each.taken + ")";
      CHECK((text.find(*each.taken == 0 ? "takes in" : taken) != std::string::npos) ==
            (*each.taken != 0));
    }
  }
}

namespace {

/// Products of [0, 1) and +-1 within `error(k)` times the sum of magnitudes, in all of these
/// layouts, with and without gaps between the lines of the results.
void check_layouts(const Problem& problem, const std::vector<Size>& all,
                   const std::vector<Layout>& x_layouts, const std::vector<ResultLayout>& layouts,
                   double (*error)(std::int64_t)) {
  Random random;
  INFO(random.hint());
  for (const Size& size : all)
    for (const Layout x_layout : x_layouts)
      for (const Layout w_layout :
           {Layout::row_major, Layout::column_major, Layout::padded_columns})
        for (const ResultLayout layout : layouts)
          for (const bool is_padded : {false, true}) {
            INFO(describe(problem)
                 << ", " << size.m << "x" << size.n << "x" << size.k << ", x " << name_of(x_layout)
                 << ", w " << name_of(w_layout) << ", results " << static_cast<int>(layout)
                 << ", padded " << is_padded);
            TestTensor x(DataType::float32, {size.m, size.k}, x_layout);
            TestTensor w(DataType::float32, {size.n, size.k}, w_layout);
            x.fill([&] { return random.uniform(0, 1); });
            w.fill([&] { return random.uniform(-1, 1); });
            TestTensor out = output(DataType::float32, size, layout, is_padded);
            check_product(problem, x, w, out, layout, error(size.k));
          }
}

}  // namespace

TEST_CASE("split is within its error bound, in every layout", "[conformance]") {
  if (is_skipped(split)) return;
  check_layouts(split, sizes(),
                {Layout::row_major, Layout::column_major, Layout::padded_rows, Layout::every_second,
                 Layout::reversed},
                {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any},
                split_error);
}

namespace {

/// Multiplies every 64 of k by a number of their own.
void scale_by_block(TestTensor& tensor, const std::function<double(std::int64_t)>& factor) {
  for (std::int64_t i = 0; i < tensor.extent(0); ++i)
    for (std::int64_t k = 0; k < tensor.extent(1); ++k)
      tensor.set(tensor.get(i, k) * factor(k / 64), i, k);
}

}  // namespace

TEST_CASE("engines that split float32 take all of its range", "[conformance]") {
  Random random;
  INFO(random.hint());
  const double infinity = std::numeric_limits<double>::infinity();
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  using Fill = std::function<void(TestTensor&, TestTensor&)>;
  const std::vector<std::pair<std::string, Fill>> cases = {
      {"NaN and infinities",
       [&](TestTensor& x, TestTensor& w) {
         x.set(infinity, 3, 2);
         x.set(0, 4, 2);
         x.set(not_a_number, 9, 0);
         x.set(infinity, 11, 1);
         x.set(-infinity, 11, 2);
         w.set(-infinity, 5, 2);
         w.set(0, 6, 2);
         w.set(not_a_number, 8, 40);
       }},
      {"rows of zeros",
       [&](TestTensor& x, TestTensor& w) {
         for (std::int64_t k = 0; k < x.extent(1); ++k) {
           x.set(0, 2, k);
           w.set(-0.0, 3, k);
         }
       }},
      {"rows of subnormal numbers",
       [&](TestTensor& x, TestTensor& w) {
         for (std::int64_t k = 0; k < x.extent(1); ++k) {
           x.set(random.uniform(0, 1e-40), 2, k);
           w.set(random.uniform(-1e38, 1e38), 3, k);
         }
       }},
      {"one huge element that meets a zero",
       [&](TestTensor& x, TestTensor& w) {
         for (std::int64_t m = 0; m < x.extent(0); ++m) x.set(1e38, m, 7);
         for (std::int64_t n = 0; n < w.extent(0); ++n) w.set(0, n, 7);
       }},
      {"elements that are small beside the row's largest, and all that counts",
       [&](TestTensor& x, TestTensor& w) {
         x.fill([&, k = std::int64_t(0)]() mutable { return k++ % 2 == 0 ? 1e38 : 1e-30; });
         w.fill([&, k = std::int64_t(0)]() mutable { return k++ % 2 == 0 ? 0 : 1e30; });
       }},
      {"elements that are small beside the largest of a row of ordinary size",
       [&](TestTensor& x, TestTensor& w) {
         for (std::int64_t k = 0; k < x.extent(1); ++k) {
           x.set(k % 2 == 0 ? 1 : 1e-30, 4, k);
           w.set(k % 2 == 0 ? 0 : 1, 5, k);
         }
       }},
      {"sums that overflow",
       [&](TestTensor& x, TestTensor& w) {
         x.fill([&] { return random.uniform(1.5e38, 3e38); });
         w.fill([&] { return random.uniform(-0.01, 0.01); });
         for (std::int64_t k = 0; k < x.extent(1); ++k) w.set(3e38, 1, k);
       }},
      // Where w is split as it streams, a row's power of two is kept from one 64 of k to the next.
      {"64 zeros before tiny elements",
       [&](TestTensor& x, TestTensor& w) {
         scale_by_block(x, [](std::int64_t) { return 0x1p100; });
         scale_by_block(w, [](std::int64_t block) { return block == 0 ? 0 : 0x1p-113; });
       }},
      {"64 elements that meet zeros, 64 zeros, then tiny elements",
       [&](TestTensor& x, TestTensor& w) {
         scale_by_block(x, [](std::int64_t block) { return block == 0 ? 0 : 0x1p100; });
         scale_by_block(w, [](std::int64_t block) {
           return block == 0 ? 1 : block == 1 ? 0 : 0x1p-113;
         });
       }},
      {"tiny elements before larger ones",
       [&](TestTensor& x, TestTensor& w) {
         scale_by_block(x, [](std::int64_t) { return 0x1p100; });
         scale_by_block(w, [](std::int64_t block) { return block == 0 ? 0x1p-125 : 0x1p-105; });
       }},
      {"rows of very different size", [&](TestTensor& x, TestTensor& w) {
         for (TestTensor* tensor : {&x, &w})
           for (std::int64_t i = 0; i < tensor->extent(0); ++i) {
             const double scale = std::ldexp(1.0, static_cast<int>(random.below(120)) - 60);
             for (std::int64_t k = 0; k < tensor->extent(1); ++k)
               tensor->set(tensor->get(i, k) * scale, i, k);
           }
       }}};
  // Few rows and many are split and finished in different ways.
  for (const Problem& problem : parts_problems()) {
    if (is_skipped(problem)) continue;
    for (const Size& size : {Size{21, 34, 46}, Size{270, 34, 46}, Size{21, 34, 600}})
      for (const auto& [name, change] : cases)
        for (const Layout x_layout : {Layout::row_major, Layout::column_major})
          for (const Layout w_layout : {Layout::row_major, Layout::column_major})
            for (const ResultLayout layout :
                 {ResultLayout::row_major, ResultLayout::column_major}) {
              INFO(describe(problem) << ", " << size.m << " rows, K = " << size.k << ", " << name
                                     << ", x " << name_of(x_layout) << ", w " << name_of(w_layout)
                                     << ", results " << static_cast<int>(layout));
              TestTensor x(DataType::float32, {size.m, size.k}, x_layout);
              TestTensor w(DataType::float32, {size.n, size.k}, w_layout);
              x.fill([&] { return random.uniform(0, 1); });
              w.fill([&] { return random.uniform(-1, 1); });
              change(x, w);
              TestTensor out = output(DataType::float32, size, layout, false);
              check_product(problem, x, w, out, layout, split_error(size.k));
            }
  }
}

namespace {

/// Parts keep 2^-21 of every product; a tensor core truncates eight sums before they are promoted,
/// and every promotion rounds.
double hopper_error(std::int64_t k) {
  return 0x1p-20 + 8 * 0x1p-23 + static_cast<double>(k / 64 + 1) * 0x1p-24;
}

}  // namespace

TEST_CASE("hopper is within its error bound, in every layout", "[conformance]") {
  std::vector<Size> all;
  for (const Size& size : sizes())
    if (size.k >= 16) all.push_back(size);
  // Several tiles of rows of w, of x and of k, in slices and not.
  for (const Size& size : {Size{16, 300, 520}, Size{48, 129, 700}, Size{150, 260, 300}})
    all.push_back(size);
  for (const Problem& problem : hopper_problems_in_parts())
    if (!is_skipped(problem))
      check_layouts(problem, all, {Layout::row_major, Layout::column_major, Layout::reversed},
                    {ResultLayout::row_major, ResultLayout::column_major}, hopper_error);
}

TEST_CASE("hopper computes exact products of 16-bit floats exactly", "[conformance]") {
  Random random;
  INFO(random.hint());
  for (const Problem& problem : hopper_problems()) {
    if (problem.dtype == DataType::float32 || is_skipped(problem)) continue;
    for (const Size& size :
         {Size{1, 1, 8}, Size{17, 19, 24}, Size{64, 64, 64}, Size{37, 165, 136}, Size{5, 12, 1104},
          Size{259, 36, 8}, Size{150, 260, 304}, Size{600, 130, 72}})
      for (const ResultLayout layout :
           {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any})
        for (const bool is_padded : {false, true}) {
          INFO(describe(problem) << ", " << size.m << "x" << size.n << "x" << size.k << ", results "
                                 << static_cast<int>(layout) << ", padded " << is_padded);
          TestTensor x(problem.dtype, {size.m, size.k});
          TestTensor w(problem.dtype, {size.n, size.k});
          fill(x, [&] { return random.quarter(); });
          fill(w, [&] { return random.quarter(); });
          const DataType stored = layout == ResultLayout::any ? DataType::float32 : problem.dtype;
          TestTensor out = output(stored, size, layout, is_padded);
          const double rounding = stored == DataType::bfloat16  ? 0x1p-8
                                  : stored == DataType::float16 ? 0x1p-11
                                                                : 0;
          check_product(problem, x, w, out, layout, rounding);
        }
  }
}

TEST_CASE("hopper refuses what its copies cannot read, with the reason", "[conformance]") {
  const Problem problem{DataType::float16, ComputeMode::automatic, "hopper"};
  if (is_skipped(problem)) return;
  const auto refused = [&](const TestTensor& x, const TestTensor& w, const std::string& reason) {
    check_error(
        Status::unsupported, [&] { plan_of(problem, x, w); }, "hopper", reason);
  };
  const TestTensor good(DataType::float16, {8, 16});
  refused(TestTensor(DataType::float16, {8, 16}, Layout::column_major), good, "x needs contiguous");
  refused(good, TestTensor(DataType::float16, {8, 16}, Layout::column_major), "w needs contiguous");
  refused(TestTensor(DataType::float16, {8, 13}), TestTensor(DataType::float16, {8, 13}),
          "26 bytes");
  const Problem exact{DataType::float32, ComputeMode::f32, "hopper"};
  const TestTensor short_x(DataType::float32, {8, 3});
  const TestTensor short_w(DataType::float32, {8, 3});
  check_error(
      Status::unsupported, [&] { plan_of(exact, short_x, short_w); }, "fewer than 16 products");
}

TEST_CASE("hopper and split take each other's prepared weights", "[conformance]") {
  const Problem hopper = hopper_problems_in_parts().back();
  if (is_skipped(hopper) || is_skipped(split)) return;
  Random random;
  INFO(random.hint());
  const Size size{21, 134, 300};
  TestTensor x(DataType::float32, {size.m, size.k});
  TestTensor w(DataType::float32, {size.n, size.k});
  x.fill([&] { return random.uniform(0, 1); });
  w.fill([&] { return random.uniform(-1, 1); });
  w.set(std::numeric_limits<double>::infinity(), 5, 2);
  w.set(1e-30, 7, 3);
  // Rows of x that cannot be computed from parts, although nothing but parts is left of w's rows.
  x.set(-std::numeric_limits<double>::infinity(), 2, 9);
  x.set(std::numeric_limits<double>::quiet_NaN(), 3, 0);
  for (std::int64_t k = 0; k < size.k; ++k) x.set(k == 0 ? 1 : 1e-20, 4, k);
  for (std::int64_t n = 0; n < size.n; n += 2) w.set(0, n, 0);
  x.upload();
  w.upload();
  Tensor without = w.device();
  without.data = nullptr;
  for (const Problem& maker : {hopper, split})
    for (const Problem& user : {hopper, split}) {
      INFO("made by " << maker.engine << ", used by " << user.engine);
      const PreparedWeights weights(plan_of(maker, x, w), w.device());
      CHECK(weights.bytes() > 0);
      TestTensor out(DataType::float32, {size.m, size.n});
      out.upload();
      const Plan plan = plan_of(user, x, w);
      plan.execute(Arguments{x.device(), without, {}, {out.device()}, &weights});
      fence();
      out.download();
      std::string first;
      const std::int64_t wrong = violations(x, w, out, split_error(size.k), first);
      INFO(first);
      CHECK(wrong == 0);
    }
}

TEST_CASE("engines on tensor cores take batches, with one w for each or for all", "[conformance]") {
  const std::vector<Problem> problems = all_problems();
  Random random;
  INFO(random.hint());
  for (const Problem& problem : problems) {
    if (is_skipped(problem)) continue;
    for (const bool shares_w : {false, true})
      for (const ResultLayout layout :
           {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any}) {
        INFO(describe(problem) << ", shares w " << shares_w << ", results "
                               << static_cast<int>(layout));
        const std::int64_t batch = 3, m = 19, n = 22, k = is_hopper(problem) ? 16 : 10;
        TestTensor x(problem.dtype, {batch, m, k});
        TestTensor w =
            shares_w ? TestTensor(problem.dtype, {n, k}) : TestTensor(problem.dtype, {batch, n, k});
        fill(x, [&] { return random.quarter(); });
        fill(w, [&] { return random.quarter(); });
        x.upload();
        w.upload();
        const DataType stored = layout == ResultLayout::any ? DataType::float32 : problem.dtype;
        TestTensor out(
            stored, {batch, m, n},
            layout == ResultLayout::column_major ? Layout::column_major : Layout::row_major);
        const Plan plan = plan_of(problem, x, w, layout);
        plan.execute(Arguments{x.device(), w.device(), {}, {out.device()}});
        fence();
        out.download();
        std::int64_t wrong = 0;
        for (std::int64_t b = 0; b < batch; ++b)
          for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
              double sum = 0;
              for (std::int64_t p = 0; p < k; ++p)
                sum += element(x, b, i, p) * (shares_w ? element(w, j, p) : element(w, b, j, p));
              // Sums of so few products of quarters are exact in 11 bits, but not in bfloat16's 8.
              const double allowed = stored == DataType::bfloat16 ? 0x1p-8 * std::abs(sum) : 0;
              wrong += std::abs(element(out, b, i, j) - sum) <= allowed ? 0 : 1;
            }
        CHECK(wrong == 0);
        CHECK(out.is_poison_around());
      }
  }
}

TEST_CASE("engines on tensor cores give zeros for K = 0 and nothing for M = 0 or N = 0",
          "[conformance]") {
  const std::vector<Problem> problems = all_problems();
  for (const Problem& problem : problems) {
    if (is_skipped(problem)) continue;
    for (const Size& size : {Size{5, 7, 0}, Size{0, 7, 3}, Size{5, 0, 3}}) {
      INFO(describe(problem) << ", " << size.m << "x" << size.n << "x" << size.k);
      TestTensor x(problem.dtype, {size.m, size.k});
      TestTensor w(problem.dtype, {size.n, size.k});
      fill(x, [] { return 1.0; });
      fill(w, [] { return 1.0; });
      TestTensor out(problem.dtype, {size.m, size.n}, Layout::padded_rows);
      check_product(problem, x, w, out, ResultLayout::row_major, 0);
    }
  }
}

TEST_CASE("engines on tensor cores take addresses of one element's alignment", "[conformance]") {
  const std::vector<Problem> problems = all_problems();
  Random random;
  INFO(random.hint());
  for (const Problem& problem : problems) {
    if (is_skipped(problem)) continue;
    const Size size{24, 32, 40};
    TestTensor x(problem.dtype, {size.m + 1, size.k});
    TestTensor w(problem.dtype, {size.n + 1, size.k});
    TestTensor out(problem.dtype, {size.m + 1, size.n});
    fill(x, [&] { return random.quarter(); });
    fill(w, [&] { return random.quarter(); });
    x.upload();
    w.upload();
    const auto shifted = [&](const TestTensor& tensor) {
      Tensor part = tensor.device();
      part.data = static_cast<char*>(part.data) + size_of(problem.dtype);
      part.extent[0] -= 1;
      return part;
    };
    INFO(describe(problem));
    const Plan plan(execution_space(), {shifted(x), shifted(w), problem.compute}, "y", {},
                    forced(problem));
    plan.execute(Arguments{shifted(x), shifted(w), {}, {shifted(out)}});
    fence();
    out.download();
    std::int64_t wrong = 0;
    const auto at = [](const TestTensor& tensor, std::int64_t i, std::int64_t j) {
      const std::int64_t place = i * tensor.extent(1) + j + 1;
      return element(tensor, place / tensor.extent(1), place % tensor.extent(1));
    };
    for (std::int64_t i = 0; i < size.m; ++i)
      for (std::int64_t j = 0; j < size.n; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < size.k; ++p) sum += at(x, i, p) * at(w, j, p);
        const double rounding = problem.dtype == DataType::bfloat16  ? 0x1p-8
                                : problem.dtype == DataType::float16 ? 0x1p-11
                                                                     : 0;
        wrong += std::abs(at(out, i, j) - sum) <= rounding * std::abs(sum) ? 0 : 1;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("prepared weights give the same bits as w, to every plan of their shape",
          "[conformance]") {
  if (is_skipped(split)) return;
  Random random;
  INFO(random.hint());
  for (const Layout w_layout : {Layout::row_major, Layout::column_major}) {
    TestTensor w(DataType::float32, {34, 46}, w_layout);
    w.fill([&] { return random.uniform(-1, 1); });
    // Rows that cannot be computed from parts, which weights must therefore keep.
    w.set(std::numeric_limits<double>::infinity(), 5, 2);
    w.set(1e-30, 7, 3);
    w.set(std::numeric_limits<double>::quiet_NaN(), 30, 45);
    w.upload();
    TestTensor x(DataType::float32, {21, 46});
    x.fill([&] { return random.uniform(0, 1); });
    x.upload();
    const Plan first = plan_of(split, x, w);
    const PreparedWeights weights(first, w.device());
    CHECK(weights.bytes() > 0);
    CHECK(first.workspace_bytes_with_prepared_weights() < first.workspace_bytes());
    const auto execute = [&](const Plan& plan, const TestTensor& with_x,
                             const PreparedWeights* prepared, bool has_w) {
      TestTensor out(DataType::float32, {with_x.extent(0), 34});
      out.upload();
      Tensor given = w.device();
      if (!has_w) given.data = nullptr;
      plan.execute(Arguments{with_x.device(), given, {}, {out.device()}, prepared});
      fence();
      out.download();
      return out.bytes();
    };
    const auto unprepared = execute(first, x, nullptr, true);
    CHECK(execute(first, x, &weights, true) == unprepared);
    CHECK(execute(first, x, &weights, false) == unprepared);

    TestTensor other_x(DataType::float32, {300, 46});
    other_x.fill([&] { return random.uniform(0, 1); });
    other_x.upload();
    const Plan second = plan_of(split, other_x, w, ResultLayout::row_major, "relu(y)");
    CHECK(execute(second, other_x, &weights, false) == execute(second, other_x, nullptr, true));

    w.fill([&] { return random.uniform(-1, 1); });
    w.upload();
    PreparedWeights refreshed = weights;
    refreshed.refresh(execution_space(), w.device());
    CHECK(execute(first, x, &weights, false) == execute(first, x, nullptr, true));
  }
}

TEST_CASE("rows of x that parts cannot hold are right with prepared weights alone",
          "[conformance]") {
  Random random;
  INFO(random.hint());
  for (const Problem& problem : parts_problems())
    for (const std::int64_t rows : {21, 270}) {
      if (is_skipped(problem)) continue;
      const Size size{rows, 34, 46};
      TestTensor x(DataType::float32, {size.m, size.k});
      TestTensor w(DataType::float32, {size.n, size.k});
      x.fill([&] { return random.uniform(0, 1); });
      w.fill([&] { return random.uniform(-1, 1); });
      x.set(-std::numeric_limits<double>::infinity(), 2, 9);
      x.set(std::numeric_limits<double>::quiet_NaN(), 3, 0);
      for (std::int64_t k = 0; k < size.k; ++k) x.set(k == 0 ? 1 : 1e-20, 4, k);
      for (std::int64_t n = 0; n < size.n; n += 2) w.set(0, n, 0);
      x.upload();
      w.upload();
      const Plan plan = plan_of(problem, x, w);
      const PreparedWeights weights(plan, w.device());
      Tensor without = w.device();
      without.data = nullptr;
      TestTensor out(DataType::float32, {size.m, size.n});
      out.upload();
      plan.execute(Arguments{x.device(), without, {}, {out.device()}, &weights});
      fence();
      out.download();
      std::string first;
      const std::int64_t wrong = violations(x, w, out, split_error(size.k), first);
      INFO(describe(problem) << ", " << rows << " rows: " << first);
      CHECK(wrong == 0);
    }
}

TEST_CASE("engines without a format of their own prepare nothing and read w", "[conformance]") {
  TestTensor x(DataType::float32, {5, 7});
  TestTensor w(DataType::float32, {3, 7});
  x.fill([] { return 1.0; });
  w.fill([] { return 2.0; });
  x.upload();
  w.upload();
  TestTensor out(DataType::float32, {5, 3});
  PlanOptions options;
  options.engine = "kokkos_kernels";
  const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::automatic}, "y", {},
                  options);
  const PreparedWeights weights(plan, w.device());
  CHECK(weights.bytes() == 0);
  CHECK(plan.workspace_bytes_with_prepared_weights() == plan.workspace_bytes());
  plan.execute(Arguments{x.device(), w.device(), {}, {out.device()}, &weights});
  fence();
  out.download();
  for (const double value : out.elements()) CHECK(value == 14);
  Tensor without = w.device();
  without.data = nullptr;
  check_error(
      Status::invalid_argument,
      [&] {
        plan.execute(Arguments{x.device(), without, {}, {out.device()}, &weights});
      },
      "w", "null");
}

TEST_CASE("stale and unfitting prepared weights are refused", "[conformance]") {
  TestTensor x(DataType::float32, {5, 8});
  TestTensor w(DataType::float32, {3, 8});
  TestTensor other(DataType::float32, {4, 8});
  TestTensor out(DataType::float32, {5, 3});
  for (TestTensor* tensor : {&x, &w, &other}) {
    tensor->fill([] { return 1.0; });
    tensor->upload();
  }
  out.upload();
  const LinearProblem problem{x.device(), w.device(), ComputeMode::automatic};
  const Plan plan(execution_space(), problem, "y");
  const Plan other_plan(execution_space(), {x.device(), other.device(), ComputeMode::automatic},
                        "y");
  PreparedWeights weights(plan, w.device());
  const PreparedWeights other_weights(other_plan, other.device());
  const auto execute = [&](const Tensor& given, const PreparedWeights& prepared) {
    return [&, given] {
      plan.execute(Arguments{x.device(), given, {}, {out.device()}, &prepared});
    };
  };
  check_error(Status::shape_mismatch, execute(w.device(), other_weights), "prepared_weights", "4x8",
              "3x8");
  Tensor moved = other.device();
  moved.extent[0] = 3;
  check_error(Status::invalid_argument, execute(moved, weights), "stale");
  CHECK(out.is_untouched());
  check_error(
      Status::shape_mismatch, [&] { PreparedWeights(plan, other.device()); }, "w", "4x8", "3x8");
  check_error(
      Status::shape_mismatch, [&] { weights.refresh(execution_space(), other.device()); }, "w",
      "4x8");
  weights.refresh(execution_space(), moved);
  CHECK_NOTHROW(execute(moved, weights)());
  check_error(Status::invalid_argument, execute(w.device(), weights), "stale");
  fence();

  if (is_skipped(split)) return;
  const Plan split_plan = plan_of(split, x, w);
  // What has been prepared for another engine is of no use: w is, where it is given.
  Tensor without = moved;
  without.data = nullptr;
  check_error(
      Status::invalid_argument,
      [&] {
        split_plan.execute(Arguments{x.device(), without, {}, {out.device()}, &weights});
      },
      "prepared for the engine", "split", "null");
  split_plan.execute(Arguments{x.device(), moved, {}, {out.device()}, &weights});
  fence();
  out.download();
  for (const double value : out.elements()) CHECK(value == 8);
}

TEST_CASE("weights that are prepared once serve plans of every batch size", "[conformance]") {
  Random random;
  INFO(random.hint());
  // Sizes at which several engines are the fastest.
  TestTensor w(DataType::float32, {1088, 1088});
  w.fill([&] { return random.quarter(); });
  w.upload();
  std::optional<PreparedWeights> weights;
  for (const std::int64_t m : {64, 1, 8, 300, 1100}) {
    INFO(m << " rows");
    TestTensor x(DataType::float32, {m, 1088});
    TestTensor out(DataType::float32, {m, 1088});
    TestTensor same(DataType::float32, {m, 1088});
    x.fill([&] { return random.quarter(); });
    x.upload();
    for (TestTensor* tensor : {&out, &same}) tensor->upload();
    const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::f32}, "y");
    INFO(plan.explain());
    if (!weights) weights.emplace(plan, w.device());
    plan.execute(Arguments{x.device(), w.device(), {}, {out.device()}, &*weights});
    plan.execute(Arguments{x.device(), w.device(), {}, {same.device()}});
    fence();
    for (TestTensor* tensor : {&out, &same}) tensor->download();
    CHECK(out.elements() == same.elements());
  }
}

TEST_CASE("a plan times the algorithms of its GEMM, and a later plan takes what it found",
          "[conformance]") {
  std::vector<Problem> problems = vendor_problems();
  problems.push_back(split);
  problems.push_back({DataType::float32, ComputeMode::f32, "kokkos_kernels"});
  problems.push_back({DataType::float32, ComputeMode::f32, "microkernel"});
  problems.push_back({DataType::float32, ComputeMode::f32, "onednn"});
  Random random;
  INFO(random.hint());
  for (const Problem& problem : problems) {
    if (is_skipped(problem)) continue;
    INFO(describe(problem));
    const Size size{72, 136, 264};
    TestTensor x(problem.dtype, {size.m, size.k});
    TestTensor w(problem.dtype, {size.n, size.k});
    fill(x, [&] { return random.quarter(); });
    fill(w, [&] { return random.quarter(); });
    x.upload();
    w.upload();
    const LinearProblem linear{x.device(), w.device(), problem.compute};
    PlanOptions options = forced(problem, ResultLayout::any);
    options.autotune = true;
    const Plan timed(execution_space(), linear, "y", {}, options);
    options.autotune = false;
    options.engine = "";
    options.gemm_choice = timed.gemm_choice() + "\n";
    const Plan kept(execution_space(), linear, "y", {}, options);
    CHECK(kept.gemm_choice() == timed.gemm_choice());
    CHECK(kept.gemm_choice().find(problem.engine) == 0);
    CHECK(kept.workspace_bytes() == timed.workspace_bytes());
    for (const Plan* const plan : {&timed, &kept}) {
      TestTensor out(DataType::float64, {size.m, size.n});
      plan->execute(Arguments{x.device(), w.device(), {}, {out.device()}});
      fence();
      out.download();
      std::string first;
      // Multiples of a quarter are exact in every mode.
      const std::int64_t wrong = violations(x, w, out, 0, first);
      INFO(first);
      CHECK(wrong == 0);
    }

    const LinearProblem other{w.device(), x.device(), problem.compute};
    check_error(
        Status::invalid_argument, [&] { Plan(execution_space(), other, "y", {}, options); },
        "gemm_choice is for", "m 72", "m 136");
    options.engine = "another";
    check_error(
        Status::invalid_argument, [&] { Plan(execution_space(), linear, "y", {}, options); },
        "gemm_choice has the engine", problem.engine, "another");
    options.engine = "";
    const bool has_algorithms = timed.gemm_choice().back() != ' ';
    options.gemm_choice = timed.gemm_choice() + (has_algorithms ? " 256=12" : "library 256=12");
    check_error(
        Status::invalid_argument, [&] { Plan(execution_space(), linear, "y", {}, options); },
        "gemm_choice has", "256=12");
  }
}

#ifdef KOKKOS_ENABLE_CUDA
TEST_CASE("whole executions can be captured in a CUDA graph", "[conformance]") {
  const std::vector<Problem> problems = all_problems();
  Random random;
  INFO(random.hint());
  for (const Problem& problem : problems) {
    if (backend() != Backend::cuda || is_skipped(problem)) continue;
    INFO(describe(problem));
    const Size size{40, 72, 136};
    TestTensor x(problem.dtype, {size.m, size.k});
    TestTensor w(problem.dtype, {size.n, size.k});
    TestTensor out(problem.dtype, {size.m, size.n});
    fill(x, [&] { return random.quarter(); });
    fill(w, [&] { return random.quarter(); });
    x.upload();
    w.upload();
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    {
      const ExecutionSpace space{Kokkos::Cuda(stream)};
      const Plan plan(space, {x.device(), w.device(), problem.compute}, "relu(y)", {},
                      forced(problem));
      const DeviceBuffer workspace(plan.workspace_bytes());
      const Arguments arguments{x.device(), w.device(), {}, {out.device()}};
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      // What allocates or waits makes a capture fail.
      REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
      plan.execute(space, arguments, workspace.data(), workspace.bytes());
      REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
      REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
      for (int replay = 0; replay < 2; ++replay) {
        out.upload();  // poison, the first time
        REQUIRE(cudaGraphLaunch(executable, stream) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
        out.download();
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < size.m; ++i)
          for (std::int64_t j = 0; j < size.n; ++j) {
            const double sum = std::max(0.0, expected(x, w, i, j).value);
            const double rounding = problem.dtype == DataType::bfloat16  ? 0x1p-8
                                    : problem.dtype == DataType::float16 ? 0x1p-11
                                                                         : 0;
            wrong += std::abs(element(out, i, j) - sum) <= rounding * sum ? 0 : 1;
          }
        CHECK(wrong == 0);
      }
      CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
      CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  }
}
#endif
