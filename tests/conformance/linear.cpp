#include "support/catch.hpp"

#include <vector>

#include "reference/reference_gemm.hpp"
#include "support/error_model.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

namespace {

constexpr Layout every_layout[] = {Layout::row_major,    Layout::column_major,
                                   Layout::padded_rows,  Layout::padded_columns,
                                   Layout::every_second, Layout::reversed};

}  // namespace

TEST_CASE("y is within the error bound of a dot product, for every layout of x, w and y",
          "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::int64_t sizes[][3] = {{1, 1, 1}, {3, 2, 2}, {5, 7, 11}, {17, 1, 33}, {67, 41, 129}};
  for (const auto& size : sizes)
    for (const Layout x : every_layout)
      for (const Layout w : every_layout)
        for (Settings settings : layouts_of(Settings())) {
          settings.dtype = dtype;
          settings.m = size[0];
          settings.n = size[1];
          settings.k = size[2];
          settings.x = x;
          settings.w = w;
          check_linear(settings);
        }
}

TEST_CASE("y is within the error bound for long dot products", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const std::int64_t k : {1000, 4097, 20011}) {
    Settings settings;
    settings.dtype = dtype;
    settings.m = 9;
    settings.n = 70;
    settings.k = k;
    for (const Settings& each : layouts_of(settings)) check_linear(each);
  }
}

TEST_CASE("a batch of problems maps over every operation", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const std::string program :
       {"y", "min(y + bias, c) - c", "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))",
        "e = exp(y - max(y, dim=1)); return e / sum(e, dim=1), logsumexp(y, dim=0)",
        "y * scale + residual"})
    for (const std::int64_t batch : {1, 3}) {
      Settings base;
      base.dtype = dtype;
      base.batch = batch;
      base.m = 35;
      base.n = 67;
      base.k = 19;
      for (const Settings& settings : layouts_of(base)) {
        Random random;
        INFO(random.hint());
        INFO(program << ", " << describe(settings));
        Workload workload(settings, program,
                          {{"bias", OperandKind::row},
                           {"scale", OperandKind::column},
                           {"residual", OperandKind::matrix},
                           {"c", OperandKind::scalar}});
        workload.fill_real(random);
        workload.execute();
        check_real(workload);
      }
    }
}

TEST_CASE("a batch may share one w", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const ResultLayout layout :
       {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any}) {
    Random random;
    INFO(random.hint());
    TestTensor x(dtype, {3, 17, 9});
    TestTensor w(dtype, {23, 9});
    TestTensor out(dtype, {3, 17, 23},
                   layout == ResultLayout::column_major ? Layout::column_major : Layout::row_major);
    x.fill([&] { return random.quarter(); });
    w.fill([&] { return random.quarter(); });
    x.upload();
    w.upload();
    PlanOptions options;
    options.layout = layout;
    const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::automatic}, "y * 2",
                    {}, options);
    plan.execute(Arguments{x.device(), w.device(), {}, {out.device()}});
    fence();
    out.download();
    CHECK(out.is_poison_around());
    Array expected = detail::reference::multiply(x.host(), w.host());
    for (double& value : expected.values) value *= 2;
    check_elements(out, expected, Array(expected.shape));
  }
}
