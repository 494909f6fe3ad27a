#include "support/catch.hpp"

#include <string>
#include <vector>

#include "support/error_model.hpp"
#include "support/errors.hpp"
#include "support/given_values.hpp"
#include "support/programs.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

namespace {

using Values = std::vector<double>;

constexpr ResultLayout every_result_layout[] = {ResultLayout::row_major, ResultLayout::column_major,
                                                ResultLayout::any};

PlanOptions with_layout(ResultLayout layout) {
  PlanOptions options;
  options.layout = layout;
  return options;
}

/// rows x columns elements of `parent`, from (row, column) on.
Tensor block_of(Tensor parent, std::int64_t row, std::int64_t rows, std::int64_t column,
                std::int64_t columns) {
  const std::int64_t offset = row * parent.stride[0] + column * parent.stride[1];
  parent.data =
      static_cast<char*>(parent.data) + offset * static_cast<std::int64_t>(size_of(parent.dtype));
  parent.extent[0] = rows;
  parent.extent[1] = columns;
  return parent;
}

/// The result of a problem with an empty dimension.
Values run_empty(DataType dtype, std::int64_t m, std::int64_t n, std::int64_t k,
                 const std::string& text, ResultLayout layout,
                 const std::vector<Given>& operands = {}) {
  Settings settings;
  settings.dtype = dtype;
  settings.m = m;
  settings.n = n;
  settings.k = k;
  settings.result = layout;
  INFO(text << ", " << describe(settings));
  std::vector<OperandDeclaration> declarations;
  for (const Given& operand : operands) declarations.push_back({operand.name, operand.kind});
  Workload workload(settings, text, declarations);
  workload.x().fill([] { return 2.0; });
  workload.w().fill([] { return 3.0; });
  for (const Given& operand : operands) workload.operand(operand.name).fill(operand.values);
  workload.execute();
  check_exact(workload);
  return workload.output().elements();
}

}  // namespace

TEST_CASE("without in_features y is 0, and x and w may be null", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::vector<Given> bias = {{"bias", OperandKind::row, {1, -2, 3}}};
  for (const ResultLayout layout : every_result_layout) {
    CHECK(run_empty(dtype, 2, 3, 0, "relu(y + bias)", layout, bias) == Values{1, 0, 3, 1, 0, 3});
    CHECK(run_empty(dtype, 2, 3, 0, "y", layout) == Values(6, 0.0));
    CHECK(run_empty(dtype, 2, 3, 0, "max(y + bias, dim=1)", layout, bias) == Values{3, 3});

    Tensor x;
    x.dtype = dtype;
    x.extent[0] = 2;
    x.extent[1] = 0;
    x.stride[0] = 0;
    x.stride[1] = 1;
    x.memory_space = memory_space();
    Tensor w = x;
    w.extent[0] = 3;
    TestTensor bias_tensor(dtype, {3});
    bias_tensor.fill({1, -2, 3});
    bias_tensor.upload();
    TestTensor out(dtype, {2, 3},
                   layout == ResultLayout::column_major ? Layout::column_major : Layout::row_major);
    const Plan plan(execution_space(), {x, w, ComputeMode::automatic}, "relu(y + bias)",
                    {{"bias", OperandKind::row}}, with_layout(layout));
    plan.execute(Arguments{x, w, {{"bias", bias_tensor.device()}}, {out.device()}});
    fence();
    out.download();
    CHECK(out.elements() == Values{1, 0, 3, 1, 0, 3});
    CHECK(out.is_poison_around());
  }
}

TEST_CASE("reductions over an empty dimension have their neutral value, or are refused",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::pair<std::string, double> neutral[] = {{"sum", 0},   {"mean", not_a_number},
                                                    {"prod", 1},  {"logsumexp", -infinity},
                                                    {"norm", 0},  {"any", 0},
                                                    {"all", 1},   {"var", not_a_number},
                                                    {"sumexp", 0}};
  for (const ResultLayout layout : every_result_layout) {
    for (const auto& entry : neutral) {
      INFO(entry.first);
      CHECK(same(run_empty(dtype, 0, 3, 2, entry.first + "(y, dim=0)", layout),
                 Values(3, entry.second)));
      CHECK(same(run_empty(dtype, 4, 0, 2, entry.first + "(y, dim=1)", layout),
                 Values(4, entry.second)));
      CHECK(run_empty(dtype, 4, 0, 2, entry.first + "(y, dim=0)", layout).empty());
      CHECK(run_empty(dtype, 0, 3, 2, entry.first + "(y, dim=1)", layout).empty());
    }
    for (const std::string name : {"max", "min", "amax", "argmax", "argmin"}) {
      check_error(
          Status::shape_mismatch, [&] { run_empty(dtype, 0, 3, 2, name + "(y, dim=0)", layout); },
          name, "empty");
      check_error(
          Status::shape_mismatch, [&] { run_empty(dtype, 3, 0, 2, name + "(y, dim=1)", layout); },
          name, "empty");
      CHECK(run_empty(dtype, 3, 0, 2, name + "(y, dim=0)", layout).empty());
    }
  }
}

TEST_CASE("a problem without rows or columns does nothing", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const ResultLayout layout : every_result_layout)
    for (const std::string text : {"y", "relu(y) * 2", "y - sum(y, dim=1)", "y + mean(y, dim=0)"}) {
      CHECK(run_empty(dtype, 0, 3, 2, text, layout).empty());
      CHECK(run_empty(dtype, 3, 0, 2, text, layout).empty());
      CHECK(run_empty(dtype, 0, 0, 0, text, layout).empty());
    }
}

TEST_CASE("blocks of larger parents equal packed copies, and the parents' rest is untouched",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const Layout order = GENERATE(Layout::row_major, Layout::column_major);
  const ResultLayout result =
      order == Layout::row_major ? ResultLayout::row_major : ResultLayout::column_major;
  Random random;
  INFO(random.hint());
  INFO(name_of(order));
  // Rows 5-15 and columns 5-25 of 20 x 30 parents.
  TestTensor x(dtype, {20, 30}, order);
  TestTensor w(dtype, {20, 30}, order);
  TestTensor residual(dtype, {20, 30}, order);
  TestTensor out(dtype, {20, 30}, order);
  const std::int64_t rows = 10;
  const std::int64_t depth = 20;
  const auto fill_block = [&](TestTensor& parent, std::int64_t columns) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) parent.set(random.quarter(), 5 + i, 5 + j);
    parent.upload();
  };
  fill_block(x, depth);
  fill_block(w, depth);
  fill_block(residual, rows);
  const auto block = [&](const Tensor& parent, std::int64_t columns) {
    return block_of(parent, 5, rows, 5, columns);
  };
  const Plan plan(execution_space(),
                  {block(x.device(), depth), block(w.device(), depth), ComputeMode::automatic},
                  "relu(y) + residual", {{"residual", OperandKind::matrix}}, with_layout(result));
  plan.execute(Arguments{block(x.device(), depth),
                         block(w.device(), depth),
                         {{"residual", block(residual.device(), rows)}},
                         {block(out.device(), rows)}});
  fence();
  out.download();

  Settings settings;
  settings.dtype = dtype;
  settings.m = rows;
  settings.n = rows;
  settings.k = depth;
  Workload packed(settings, "relu(y) + residual", {{"residual", OperandKind::matrix}});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < depth; ++k) {
      packed.x().set(x.get(5 + i, 5 + k), i, k);
      packed.w().set(w.get(5 + i, 5 + k), i, k);
    }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < rows; ++j)
      packed.operand("residual").set(residual.get(5 + i, 5 + j), i, j);
  packed.execute();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 30; ++j) {
      const bool is_inside = i >= 5 && i < 5 + rows && j >= 5 && j < 5 + rows;
      const double expected = is_inside ? packed.output().get(i - 5, j - 5) : not_a_number;
      wrong += same(out.get(i, j), expected) ? 0 : 1;
    }
  CHECK(wrong == 0);
  CHECK(out.is_poison_around());
}

TEST_CASE("a bias with stride 0, of every second element, or backwards equals its dense copy",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const ResultLayout layout : every_result_layout)
    for (const std::int64_t stride : {0, 1, 2, 5, -1, -2})
      for (const OperandKind kind : {OperandKind::row, OperandKind::column}) {
        INFO("stride " << stride << ", layout " << static_cast<int>(layout));
        const std::int64_t m = 67;
        const std::int64_t n = 131;
        TestTensor x(dtype, {m, 1});
        TestTensor w(dtype, {n, 1});
        x.fill([] { return 1.0; });
        w.fill([] { return 2.0; });
        x.upload();
        w.upload();
        const std::int64_t length = kind == OperandKind::row ? n : m;
        TestTensor bias(dtype, {length}, std::vector<std::int64_t>{stride});
        for (std::int64_t i = 0; i < length; ++i) bias.set(static_cast<double>(i % 17), i);
        bias.upload();
        TestTensor out(
            dtype, {m, n},
            layout == ResultLayout::column_major ? Layout::column_major : Layout::row_major);
        const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::automatic},
                        "y + bias", {{"bias", kind}}, with_layout(layout));
        plan.execute(Arguments{x.device(), w.device(), {{"bias", bias.device()}}, {out.device()}});
        fence();
        out.download();
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            wrong += out.get(i, j) == 2 + bias.get(kind == OperandKind::row ? j : i) ? 0 : 1;
        CHECK(wrong == 0);
        CHECK(out.is_poison_around());
      }
}

TEST_CASE("x and w with stride 0 equal their dense copies", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Random random;
  INFO(random.hint());
  const std::int64_t m = 9;
  const std::int64_t n = 14;
  const std::int64_t k = 21;
  for (const auto& strides :
       std::vector<std::vector<std::int64_t>>{{0, 1}, {1, 0}, {0, 0}, {3, 2}}) {
    INFO("strides " << strides[0] << ", " << strides[1]);
    TestTensor x(dtype, {m, k}, strides);
    TestTensor w(dtype, {n, k}, strides);
    x.fill([&] { return random.quarter(); });
    w.fill([&] { return random.quarter(); });
    x.upload();
    w.upload();
    TestTensor out(dtype, {m, n});
    const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::automatic}, "y");
    plan.execute(Arguments{x.device(), w.device(), {}, {out.device()}});
    fence();
    out.download();
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < k; ++p) sum += x.get(i, p) * w.get(j, p);
        wrong += out.get(i, j) == sum ? 0 : 1;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a matrix operand may repeat its rows or columns", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const ResultLayout layout : every_result_layout)
    for (const auto& strides :
         std::vector<std::vector<std::int64_t>>{{0, 1}, {1, 0}, {0, 0}, {-40, 1}, {1, -11}}) {
      INFO("strides " << strides[0] << ", " << strides[1]);
      const std::int64_t m = 11;
      const std::int64_t n = 37;
      TestTensor x(dtype, {m, 1});
      TestTensor w(dtype, {n, 1});
      x.fill([] { return 1.0; });
      w.fill([] { return 1.0; });
      x.upload();
      w.upload();
      TestTensor residual(dtype, {m, n}, strides);
      double next = 0;
      residual.fill([&] { return next++; });
      residual.upload();
      TestTensor out(
          dtype, {m, n},
          layout == ResultLayout::column_major ? Layout::column_major : Layout::row_major);
      const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::automatic},
                      "y * residual", {{"residual", OperandKind::matrix}}, with_layout(layout));
      plan.execute(
          Arguments{x.device(), w.device(), {{"residual", residual.device()}}, {out.device()}});
      fence();
      out.download();
      CHECK(out.elements() == residual.elements());
    }
}

TEST_CASE("a product that is not square has its rows and columns in their places",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const ResultLayout layout : every_result_layout)
    for (const Layout x_layout : {Layout::row_major, Layout::column_major}) {
      Settings settings;
      settings.dtype = dtype;
      settings.m = 3;
      settings.n = 1;
      settings.k = 2;
      settings.x = x_layout;
      settings.result = layout;
      Workload workload(settings, "y");
      workload.x().fill({1, 2, 3, 4, 5, 6});
      workload.w().fill({1, 2});
      workload.execute();
      CHECK(workload.output().elements() == Values{5, 11, 17});

      settings.m = 1;
      settings.n = 3;
      Workload turned(settings, "y");
      turned.x().fill({1, 2});
      turned.w().fill({1, 2, 3, 4, 5, 6});
      turned.execute();
      CHECK(turned.output().elements() == Values{5, 11, 17});
    }
}

TEST_CASE("results of one column, one row or one element take any of their layouts",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const ResultLayout layout : every_result_layout)
    for (const auto& size : std::vector<std::vector<std::int64_t>>{{5, 1}, {1, 5}, {1, 1}})
      for (const Layout out_layout : {Layout::row_major, Layout::column_major}) {
        INFO(size[0] << "x" << size[1] << ", " << name_of(out_layout));
        TestTensor x(dtype, {size[0], 2});
        TestTensor w(dtype, {size[1], 2});
        x.fill([] { return 1.0; });
        w.fill([] { return 3.0; });
        x.upload();
        w.upload();
        TestTensor out(dtype, size, out_layout);
        const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::automatic},
                        "y + 1", {}, with_layout(layout));
        plan.execute(Arguments{x.device(), w.device(), {}, {out.device()}});
        fence();
        out.download();
        CHECK(out.elements() == Values(static_cast<std::size_t>(size[0] * size[1]), 7.0));
      }
}

TEST_CASE("a reduced result takes a vector of rank 1, and any strides", "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::int64_t m = 7;
  const std::int64_t n = 12;
  TestTensor x(dtype, {m, 1});
  TestTensor w(dtype, {n, 1});
  double next = 0;
  x.fill([&] { return next++; });
  w.fill([] { return 1.0; });
  x.upload();
  w.upload();
  const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::automatic},
                  "return sum(y, dim=0), sum(y, dim=1), sum(sum(y, dim=0), dim=1)");
  for (const std::int64_t stride : {1, 3, -2}) {
    INFO("stride " << stride);
    TestTensor by_column(dtype, {n}, std::vector<std::int64_t>{stride});
    TestTensor by_row(dtype, {m}, std::vector<std::int64_t>{stride});
    TestTensor total(dtype, {1}, std::vector<std::int64_t>{stride});
    plan.execute(Arguments{
        x.device(), w.device(), {}, {by_column.device(), by_row.device(), total.device()}});
    fence();
    by_column.download();
    by_row.download();
    total.download();
    CHECK(by_column.elements() == Values(n, 21.0));
    CHECK(by_row.elements() == Values{0, 12, 24, 36, 48, 60, 72});
    CHECK(total.elements() == Values{252});
    CHECK(by_column.is_poison_around());
    CHECK(by_row.is_poison_around());
  }
}

TEST_CASE("results may have another dtype than the problem where y is not kept in them",
          "[special_values]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const DataType other = dtype == DataType::float32 ? DataType::float64 : DataType::float32;
  TestTensor x(dtype, {5, 1});
  TestTensor w(dtype, {3, 1});
  TestTensor bias(other, {3});
  x.fill([] { return 0.5; });
  w.fill([] { return 3.0; });
  bias.fill({1, 2, 3});
  for (TestTensor* tensor : {&x, &w, &bias}) tensor->upload();
  TestTensor matrix(other, {5, 3});
  TestTensor sums(other, {5, 1});
  const Plan plan(execution_space(), {x.device(), w.device(), ComputeMode::automatic},
                  "z = y + bias; return z, sum(z, dim=1)", {{"bias", OperandKind::row}},
                  with_layout(ResultLayout::any));
  plan.execute(Arguments{
      x.device(), w.device(), {{"bias", bias.device()}}, {matrix.device(), sums.device()}});
  fence();
  matrix.download();
  sums.download();
  CHECK(matrix.elements() ==
        Values{2.5, 3.5, 4.5, 2.5, 3.5, 4.5, 2.5, 3.5, 4.5, 2.5, 3.5, 4.5, 2.5, 3.5, 4.5});
  CHECK(sums.elements() == Values(5, 10.5));
}
