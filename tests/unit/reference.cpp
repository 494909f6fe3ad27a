#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "reference/formulas.hpp"
#include "reference/reductions.hpp"
#include "reference/reference.hpp"
#include "reference/reference_gemm.hpp"
#include "support/programs.hpp"
#include "support/random.hpp"

using namespace postlude;
using namespace postlude::test;
using postlude::detail::Shape;
using postlude::detail::reference::Array;

// The oracle is checked against numbers worked out by hand or taken from tables, so that it cannot
// share a mistake with what it checks.

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

double applied(Operation operation, const std::vector<double>& inputs) {
  return detail::reference::apply(operation, inputs.data());
}

double reduced(Reduction reduction, const std::vector<double>& elements, double parameter = 0) {
  return detail::reference::reduce(reduction, elements, parameter);
}

bool is_near(double value, double expected, double relative) {
  if (std::isnan(expected)) return std::isnan(value);
  if (value == expected) return true;
  return std::abs(value - expected) <= relative * std::abs(expected);
}

struct Point {
  Operation operation;
  std::vector<double> inputs;
  double expected;
};

}  // namespace

TEST_CASE("the reference's formulas give known values", "[unit]") {
  using O = Operation;
  const std::vector<Point> points = {{O::add, {1, 2}, 3},
                                     {O::subtract, {1, 2}, -1},
                                     {O::multiply, {3, -2}, -6},
                                     {O::divide, {1, 4}, 0.25},
                                     {O::divide, {1, 0}, inf},
                                     {O::divide, {0, 0}, NaN},
                                     {O::negate, {2}, -2},
                                     {O::power, {2, 10}, 1024},
                                     {O::power, {-8, 1.0 / 3}, NaN},
                                     {O::power, {NaN, 0}, 1},
                                     {O::less, {1, 2}, 1},
                                     {O::less, {2, 2}, 0},
                                     {O::less_equal, {2, 2}, 1},
                                     {O::greater, {NaN, 2}, 0},
                                     {O::greater_equal, {2, 2}, 1},
                                     {O::equal, {NaN, NaN}, 0},
                                     {O::not_equal, {NaN, NaN}, 1},
                                     {O::min, {1, 2}, 1},
                                     {O::min, {NaN, 2}, NaN},
                                     {O::min, {2, NaN}, NaN},
                                     {O::max, {1, 2}, 2},
                                     {O::max, {NaN, 2}, NaN},
                                     {O::max, {2, NaN}, NaN},
                                     {O::clamp, {3, 4, 2}, 2},
                                     {O::clamp, {NaN, 0, 1}, NaN},
                                     {O::clamp, {0.5, NaN, 1}, NaN},
                                     {O::clamp, {0.5, 0, NaN}, NaN},
                                     {O::where, {1, 2, 3}, 2},
                                     {O::where, {0, 2, 3}, 3},
                                     {O::where, {NaN, 2, 3}, 2},
                                     {O::where, {1, 2, NaN}, 2},
                                     {O::abs, {-2}, 2},
                                     {O::sign, {-2}, -1},
                                     {O::sign, {0}, 0},
                                     {O::sign, {NaN}, NaN},
                                     {O::square, {-3}, 9},
                                     {O::sqrt, {9}, 3},
                                     {O::sqrt, {-1}, NaN},
                                     {O::rsqrt, {4}, 0.5},
                                     {O::rsqrt, {0}, inf},
                                     {O::reciprocal, {-4}, -0.25},
                                     {O::exp, {1}, 2.718281828459045},
                                     {O::exp, {NaN}, NaN},
                                     {O::expm1, {1e-10}, 1.00000000005e-10},
                                     {O::log, {2.718281828459045}, 1},
                                     {O::log, {0}, -inf},
                                     {O::log1p, {1e-10}, 9.9999999995e-11},
                                     {O::sin, {0.5}, 0.479425538604203},
                                     {O::cos, {0.5}, 0.8775825618903728},
                                     {O::erf, {0.5}, 0.5204998778130465},
                                     {O::tanh, {0.5}, 0.46211715726000976},
                                     {O::floor, {-1.5}, -2},
                                     {O::ceil, {-1.5}, -1},
                                     {O::round, {0.5}, 0},
                                     {O::round, {1.5}, 2},
                                     {O::round, {2.5}, 2},
                                     {O::round, {-2.5}, -2},
                                     {O::round, {2.6}, 3},
                                     {O::round, {4503599627370497.0}, 4503599627370497.0},
                                     {O::relu, {-1}, 0},
                                     {O::relu, {NaN}, NaN},
                                     {O::leaky_relu, {-2, 0.01}, -0.02},
                                     {O::relu6, {7}, 6},
                                     {O::elu, {-1, 1}, -0.6321205588285577},
                                     {O::elu, {-inf, 2}, -2},
                                     {O::selu, {1}, 1.0507009873554805},
                                     {O::selu, {-1}, -1.1113307378125625},
                                     {O::celu, {-1, 2}, -0.7869386805747332},
                                     {O::gelu, {1}, 0.8413447460685429},
                                     {O::gelu, {-5}, -1.4332579e-6},
                                     {O::gelu, {-5.5}, -1.04442594e-7},
                                     {O::gelu, {-6}, -5.9195259e-9},
                                     {O::gelu, {12}, 12},
                                     {O::gelu, {inf}, inf},
                                     {O::gelu, {-inf}, 0},
                                     {O::gelu_tanh, {1}, 0.8411919906082768},
                                     {O::gelu_tanh, {12}, 12},
                                     {O::gelu_tanh, {inf}, inf},
                                     {O::gelu_tanh, {-inf}, 0},
                                     {O::silu, {1}, 0.7310585786300049},
                                     {O::silu, {-inf}, 0},
                                     {O::sigmoid, {-1}, 0.2689414213699951},
                                     {O::sigmoid, {-inf}, 0},
                                     {O::logsigmoid, {-1000}, -1000},
                                     {O::logsigmoid, {1}, -0.31326168751822286},
                                     {O::softplus, {100, 1, 20}, 100},
                                     {O::softplus, {0, 1, 20}, 0.6931471805599453},
                                     {O::softplus, {1, 2, 20}, 1.0634640055214863},
                                     {O::softplus, {-inf, 1, 20}, 0},
                                     {O::softsign, {3}, 0.75},
                                     {O::softsign, {-inf}, -1},
                                     {O::mish, {1}, 0.8650983882673103},
                                     {O::mish, {inf}, inf},
                                     {O::mish, {-inf}, 0},
                                     {O::hardtanh, {-3, -1, 1}, -1},
                                     {O::hardswish, {11648}, 11648},
                                     {O::hardswish, {1}, 2.0 / 3},
                                     {O::hardswish, {-inf}, 0},
                                     {O::hardsigmoid, {0}, 0.5},
                                     {O::threshold, {1, 2, 9}, 9},
                                     {O::threshold, {3, 2, 9}, 3},
                                     {O::threshold, {NaN, 2, 9}, NaN}};
  for (const Point& point : points) {
    INFO("operation " << static_cast<int>(point.operation) << " of " << point.inputs[0]);
    CHECK(is_near(applied(point.operation, point.inputs), point.expected, 1e-7));
  }
}

TEST_CASE("the reference's gelu has no cancellation", "[unit]") {
  // Phi(-10) = 7.619853024160527e-24.
  CHECK(is_near(applied(Operation::gelu, {-10}), -7.619853024160527e-23, 1e-13));
}

TEST_CASE("the reference's reductions give known values", "[unit]") {
  using R = Reduction;
  const std::vector<double> none;
  CHECK(reduced(R::sum, {1, 2, 3.5}) == 6.5);
  CHECK(reduced(R::sum, none) == 0);
  CHECK(reduced(R::sum, {1e16, 1, -1e16}) == 1);
  CHECK(reduced(R::sum, {inf, 1}) == inf);
  CHECK(std::isnan(reduced(R::sum, {inf, -inf})));
  CHECK(reduced(R::mean, {1, 2, 6}) == 3);
  CHECK(std::isnan(reduced(R::mean, none)));
  CHECK(reduced(R::prod, {2, 3, -4}) == -24);
  CHECK(reduced(R::prod, none) == 1);
  CHECK(std::isnan(reduced(R::max, {NaN, NaN, NaN, 42})));
  CHECK(std::isnan(reduced(R::max, {1, NaN})));
  CHECK(reduced(R::max, {-inf, -inf}) == -inf);
  CHECK(std::isnan(reduced(R::min, {1, NaN})));
  CHECK(reduced(R::min, {3, -2, 7}) == -2);
  CHECK(reduced(R::amax, {3, -5, 4}) == 5);
  CHECK(reduced(R::logsumexp, {-inf, -inf}) == -inf);
  CHECK(reduced(R::logsumexp, {1, inf}) == inf);
  CHECK(reduced(R::logsumexp, {-inf, inf}) == inf);
  CHECK(std::isnan(reduced(R::logsumexp, {NaN, inf})));
  CHECK(reduced(R::logsumexp, none) == -inf);
  CHECK(is_near(reduced(R::logsumexp, {1000, 1000}), 1000.6931471805599, 1e-15));
  CHECK(std::isnan(reduced(R::sumexp, {1, inf})));
  CHECK(std::isnan(reduced(R::sumexp, {-inf, -inf})));
  CHECK(std::isnan(reduced(R::sumexp, {NaN, 1})));
  CHECK(reduced(R::sumexp, {-inf, 3}) == 1);
  CHECK(reduced(R::sumexp, none) == 0);
  CHECK(is_near(reduced(R::sumexp, {1000, 999}), 1.3678794411714423, 1e-15));
  CHECK(is_near(reduced(R::norm, {3, 4}, 2), 5, 1e-15));
  CHECK(is_near(reduced(R::norm, {3, -4}, 1), 7, 1e-15));
  CHECK(reduced(R::norm, {3, -4}, inf) == 4);
  CHECK(is_near(reduced(R::norm, {3e200, 4e200}, 2), 5e200, 1e-15));
  CHECK(reduced(R::norm, none, 2) == 0);
  CHECK(std::isnan(reduced(R::norm, {inf, NaN}, 2)));
  CHECK(is_near(reduced(R::var, {1, 2, 3, 4}, 1), 5.0 / 3, 1e-15));
  CHECK(is_near(reduced(R::var, {40000, 40001, 40002, 40003}, 0), 1.25, 1e-15));
  CHECK(is_near(reduced(R::std, {1, 3}, 0), 1, 1e-15));
  CHECK(std::isnan(reduced(R::var, {5}, 1)));
  CHECK(reduced(R::var, {1, 3}, 2) == inf);
  CHECK(reduced(R::argmax, {1, 7, 3, 7}) == 1);
  CHECK(reduced(R::argmax, {1, 7, NaN, 7, NaN}) == 2);
  CHECK(reduced(R::argmin, {4, -1, -1}) == 1);
  CHECK(reduced(R::argmin, {NaN, -1}) == 0);
  CHECK(reduced(R::any, {0, 0}) == 0);
  CHECK(reduced(R::any, {0, NaN}) == 1);
  CHECK(reduced(R::any, none) == 0);
  CHECK(reduced(R::all, {1, NaN}) == 1);
  CHECK(reduced(R::all, {1, 0}) == 0);
  CHECK(reduced(R::all, none) == 1);
}

TEST_CASE("the reference evaluates a program with every broadcast shape", "[unit]") {
  // y = [[1, 2, 3], [4, 5, 6]].
  const Shape shape{1, 2, 3};
  Array y(shape);
  y.values = {1, 2, 3, 4, 5, 6};
  Array bias(Shape{1, 1, 3});
  bias.values = {10, 20, 30};
  Array scale(Shape{1, 2, 1});
  scale.values = {1, -1};
  const auto results = [&](const std::string& text) {
    const detail::Program program = detail::lower(
        Epilogue(text), shape, 3, {{"bias", OperandKind::row}, {"scale", OperandKind::column}});
    std::vector<std::vector<double>> values;
    for (const Array& array : detail::reference::evaluate(program, y, {bias, scale}))
      values.push_back(array.values);
    return values;
  };
  using Values = std::vector<double>;
  CHECK(results("y + bias")[0] == Values{11, 22, 33, 14, 25, 36});
  CHECK(results("y * scale")[0] == Values{1, 2, 3, -4, -5, -6});
  CHECK(results("bias * scale")[0] == Values{10, 20, 30, -10, -20, -30});
  CHECK(results("sum(y, dim=0)")[0] == Values{5, 7, 9});
  CHECK(results("sum(y, dim=1)")[0] == Values{6, 15});
  CHECK(results("mean(max(y, dim=0), dim=1)")[0] == Values{5});
  CHECK(results("y - max(y, dim=1)")[0] == Values{-2, -1, 0, -2, -1, 0});
  CHECK(results("3")[0] == Values{3});
  const auto several = results("m = max(y, dim=1); return m, y, y - m, m * 1");
  REQUIRE(several.size() == 4);
  CHECK(several[0] == Values{3, 6});
  CHECK(several[1] == y.values);
  CHECK(several[3] == several[0]);
}

TEST_CASE("the reference's product takes any strides and either dtype", "[unit]") {
  Random random;
  INFO(random.hint());
  for (const std::int64_t m : {1, 5, 97, 130})
    for (const std::int64_t n : {1, 3, 131})
      for (const std::int64_t k : {0, 1, 7, 255, 257, 520}) {
        std::vector<float> x(static_cast<std::size_t>(m * k * 2));
        std::vector<double> w(static_cast<std::size_t>(n * k));
        for (float& value : x) value = static_cast<float>(random.quarter());
        for (double& value : w) value = random.quarter();
        Tensor x_tensor;  // every second element of the rows
        x_tensor.data = x.data();
        x_tensor.extent[0] = m;
        x_tensor.extent[1] = k;
        x_tensor.stride[0] = 2 * k;
        x_tensor.stride[1] = 2;
        Tensor w_tensor;  // column-major
        w_tensor.data = w.data();
        w_tensor.dtype = DataType::float64;
        w_tensor.extent[0] = n;
        w_tensor.extent[1] = k;
        w_tensor.stride[0] = 1;
        w_tensor.stride[1] = n;
        const Array y = detail::reference::multiply(x_tensor, w_tensor);
        REQUIRE(y.shape == Shape{1, m, n});
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t p = 0; p < k; ++p)
              sum += static_cast<double>(x[static_cast<std::size_t>(2 * (i * k + p))]) *
                     w[static_cast<std::size_t>(p * n + j)];
            wrong += y.at(0, i, j) == sum ? 0 : 1;
          }
        INFO("M=" << m << " N=" << n << " K=" << k);
        CHECK(wrong == 0);
      }
}

TEST_CASE("the reference's product lets NaN and infinities reach their row and column only",
          "[unit]") {
  const std::int64_t m = 13;
  const std::int64_t n = 11;
  const std::int64_t k = 300;
  std::vector<float> x(static_cast<std::size_t>(m * k), 1.0f);
  std::vector<float> w(static_cast<std::size_t>(n * k), 2.0f);
  x[static_cast<std::size_t>(4 * k + 299)] = std::numeric_limits<float>::quiet_NaN();
  w[static_cast<std::size_t>(7 * k)] = -std::numeric_limits<float>::infinity();
  Tensor x_tensor;
  x_tensor.data = x.data();
  x_tensor.extent[0] = m;
  x_tensor.extent[1] = k;
  x_tensor.stride[0] = k;
  x_tensor.stride[1] = 1;
  Tensor w_tensor = x_tensor;
  w_tensor.data = w.data();
  w_tensor.extent[0] = n;
  const Array y = detail::reference::multiply(x_tensor, w_tensor);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const double value = y.at(0, i, j);
      const bool is_right = i == 4 ? std::isnan(value) : value == (j == 7 ? -inf : 600.0);
      wrong += is_right ? 0 : 1;
    }
  CHECK(wrong == 0);
}

TEST_CASE("the reference's product maps over a batch, with w shared or not", "[unit]") {
  std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8};  // 2 x 2 x 2
  std::vector<double> w = {1, 10, 100, 1000};        // 2 x 1 x 2, or its first half shared
  Tensor x_tensor;
  x_tensor.data = x.data();
  x_tensor.dtype = DataType::float64;
  x_tensor.rank = 3;
  for (int i = 0; i < 3; ++i) x_tensor.extent[i] = 2;
  x_tensor.stride[0] = 4;
  x_tensor.stride[1] = 2;
  x_tensor.stride[2] = 1;
  Tensor w_tensor = x_tensor;
  w_tensor.data = w.data();
  w_tensor.extent[1] = 1;
  w_tensor.stride[0] = 2;
  CHECK(detail::reference::multiply(x_tensor, w_tensor).values ==
        std::vector<double>{21, 43, 6500, 8700});
  Tensor shared = w_tensor;
  shared.rank = 2;
  shared.extent[0] = 1;
  shared.extent[1] = 2;
  shared.stride[0] = 2;
  shared.stride[1] = 1;
  CHECK(detail::reference::multiply(x_tensor, shared).values ==
        std::vector<double>{21, 43, 65, 87});
}
