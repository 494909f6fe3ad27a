#include "support/catch.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <postlude/error.hpp>
#include <postlude/plan.hpp>

#include "support/backend.hpp"
#include "support/errors.hpp"

using namespace postlude;
using namespace postlude::test;

namespace {

Tensor described(std::vector<std::int64_t> extents, DataType dtype = DataType::float32) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.rank = static_cast<std::int32_t>(extents.size());
  std::int64_t stride = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    tensor.extent[i] = extents[i];
    tensor.stride[i] = stride;
    if (extents[i] > 0 && extents[i] < 1000) stride *= extents[i];
  }
  tensor.memory_space = memory_space();
  return tensor;
}

Plan plan_of(const Tensor& x, const Tensor& w, const Epilogue& epilogue = "y",
             const std::vector<OperandDeclaration>& operands = {},
             const PlanOptions& options = {}) {
  return Plan(execution_space(), {x, w, ComputeMode::automatic}, epilogue, operands, options);
}

/// Planning this x and w fails.
template <class... Parts>
void refuse(Status status, const Tensor& x, const Tensor& w, const Parts&... parts) {
  check_error(
      status, [&] { plan_of(x, w); }, parts...);
}

/// Planning this epilogue fails.
template <class... Parts>
void refuse_text(Status status, const std::string& text, const Parts&... parts) {
  INFO(text.substr(0, 100));
  check_error(
      status,
      [&] {
        plan_of(described({5, 3}), described({7, 3}), text, {{"bias", OperandKind::row}});
      },
      parts...);
}

}  // namespace

TEST_CASE("shapes of x and w that do not fit are refused, with both numbers", "[invalid_input]") {
  refuse(Status::shape_mismatch, described({5, 3}), described({7, 4}), "w", "4", "3");
  refuse(Status::shape_mismatch, described({5}), described({7, 5}), "x", "rank 1");
  refuse(Status::shape_mismatch, described({5, 3}), described({3}), "w", "rank 1");
  refuse(Status::shape_mismatch, described({5, 3}), described({2, 7, 3}), "w", "batch");
  refuse(Status::shape_mismatch, described({2, 5, 3}), described({4, 7, 3}), "w", "4", "2");
  CHECK_NOTHROW(plan_of(described({2, 5, 3}), described({7, 3})));
}

TEST_CASE("descriptions that no tensor can have are refused", "[invalid_input]") {
  const Tensor w = described({7, 3});
  refuse(Status::invalid_argument, described({-1, 3}), w, "x", "-1");
  refuse(Status::invalid_argument, described({5, 3}), described({7, -3}), "w", "-3");
  Tensor x = described({5, 3});
  x.rank = 0;
  refuse(Status::invalid_argument, x, w, "x", "rank 0");
  x.rank = 4;
  refuse(Status::invalid_argument, x, w, "x", "rank 4");
  x.rank = -1;
  refuse(Status::invalid_argument, x, w, "x", "rank -1");
  x = described({5, 3});
  x.dtype = static_cast<DataType>(77);
  refuse(Status::invalid_argument, x, w, "x", "77");
}

TEST_CASE("sizes and strides whose bytes overflow 64 bits are refused", "[invalid_input]") {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  refuse(Status::invalid_argument, described({huge, 3}), described({7, 3}), "x", "overflow");
  refuse(Status::invalid_argument, described({std::int64_t(1) << 40, std::int64_t(1) << 40}),
         described({7, std::int64_t(1) << 40}), "overflow");
  Tensor x = described({5, 3});
  x.stride[0] = huge;
  refuse(Status::invalid_argument, x, described({7, 3}), "x", "overflow");
  x.stride[0] = std::numeric_limits<std::int64_t>::min();
  refuse(Status::invalid_argument, x, described({7, 3}), "x", "overflow");
  // Neither factor is large, but y is.
  refuse(Status::invalid_argument, described({std::int64_t(1) << 40, 1}),
         described({std::int64_t(1) << 40, 1}), "2^62");
}

TEST_CASE("dtypes and compute modes that do not go together are refused", "[invalid_input]") {
  refuse(Status::invalid_argument, described({5, 3}), described({7, 3}, DataType::float64), "w",
         "f64", "f32");
  refuse(Status::unsupported, described({5, 3}, DataType::int64),
         described({7, 3}, DataType::int64), "i64", "expected f64, f32, f16 or bf16");
  const auto with_mode = [](ComputeMode mode, DataType dtype) {
    return [mode, dtype] {
      Plan(execution_space(), {described({5, 3}, dtype), described({7, 3}, dtype), mode}, "y");
    };
  };
  check_error(Status::unsupported, with_mode(ComputeMode::f64, DataType::float32), "f64", "f32");
  check_error(Status::unsupported, with_mode(ComputeMode::f32, DataType::float64), "f32", "f64");
  check_error(Status::invalid_argument, with_mode(static_cast<ComputeMode>(99), DataType::float32),
              "99");
  CHECK_NOTHROW(with_mode(ComputeMode::f64, DataType::float64)());
}

TEST_CASE("options that do not exist are refused with those that do", "[invalid_input]") {
  PlanOptions options;
  options.engine = "warp_drive";
  check_error(
      Status::unknown_name,
      [&] {
        plan_of(described({5, 3}), described({7, 3}), "y", {}, options);
      },
      "engine", "'warp_drive'", "kokkos_kernels");
  options.engine = "kokkos_kernels";
  CHECK_NOTHROW(plan_of(described({5, 3}), described({7, 3}), "y", {}, options));
  options.engine.clear();
  options.layout = static_cast<ResultLayout>(0);
  check_error(
      Status::invalid_argument,
      [&] {
        plan_of(described({5, 3}), described({7, 3}), "y", {}, options);
      },
      "layout", "0");
}

TEST_CASE("wrong expressions are refused when they are planned, with their place",
          "[invalid_input]") {
  refuse_text(Status::syntax_error, "", "empty");
  refuse_text(Status::syntax_error, "min(y + bias, 2", "expected ')'", "^");
  refuse_text(Status::unknown_name, "y + bais", "'bais'", "did you mean 'bias'?", "^");
  refuse_text(Status::unknown_name, "rleu(y)", "did you mean 'relu'?");
  refuse_text(Status::invalid_argument, "sum(y, dim=2)", "dim is 2: expected 0", "^");
  refuse_text(Status::unknown_name, "max(z + bias, dim=0)", "'z'", "(line 1, column 5)");
  std::string large = "y";
  while (large.size() < 1000000) large += "+relu(y*2)";
  refuse_text(Status::invalid_argument, large, "nested");
}

TEST_CASE("a program that is too large is refused, and the next one works", "[invalid_input]") {
  std::string text = "v = y\n";
  for (int i = 0; i < 300; ++i) text += "v = sin(v) + " + std::to_string(i) + "\n";
  refuse_text(Status::unsupported, text + "v", "too large");
  CHECK_NOTHROW(plan_of(described({5, 3}), described({7, 3}), "sin(y) + 1"));
}

TEST_CASE("the largest of an empty dimension is refused when it is planned", "[invalid_input]") {
  check_error(
      Status::shape_mismatch,
      [] {
        plan_of(described({0, 3}), described({7, 3}), "max(y, dim=0)");
      },
      "max", "dim=0", "empty");
  check_error(
      Status::shape_mismatch,
      [] {
        plan_of(described({5, 3}), described({0, 3}), "argmin(y, dim=1)");
      },
      "argmin", "dim=1", "empty");
}

TEST_CASE("a result that does not exist is refused", "[invalid_input]") {
  const Plan plan = plan_of(described({5, 3}), described({7, 3}), "return y, sum(y, dim=1)");
  CHECK(plan.result_count() == 2);
  CHECK(plan.result_name(0) == "y");
  CHECK(plan.result_extents(1) == std::vector<std::int64_t>{1, 5, 1});
  check_error(
      Status::invalid_argument, [&] { plan.result_name(2); }, "result is 2");
  check_error(
      Status::invalid_argument, [&] { plan.result_extents(2); }, "result is 2");
  check_error(
      Status::invalid_argument, [&] { plan.result_dtype(99); }, "result is 99");
}
