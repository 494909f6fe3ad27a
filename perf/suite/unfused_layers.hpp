#ifndef POSTLUDE_PERF_UNFUSED_LAYERS_HPP
#define POSTLUDE_PERF_UNFUSED_LAYERS_HPP

#include <functional>
#include <map>
#include <string>

#include "unfused_operations.hpp"

namespace postlude {
namespace perf {
namespace unfused {

/// What a library may compute together with a linear layer.
enum class Activation { none, relu, gelu };

/// y (m x n) = activation(x (m x k) w^T + bias), all row-major.
template <class T>
struct LinearCall {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  const T* x;
  const T* w;
  const T* bias;
  Activation activation;
  T* y;
};

template <class T>
using LinearFunction = std::function<void(const LinearCall<T>&)>;

/// Memory of one execution, all row-major: x and w, y and a second matrix of its size, two columns,
/// two rows, and the result.
template <class T>
struct Buffers {
  const T* x;
  const T* w;
  T* y;
  T* second;
  T* column;
  T* other_column;
  T* row;
  T* other_row;
  T* out;
  std::map<std::string, const T*> operands;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

/// The programs of perf/programs.json as sequences of one kernel for each operation. An operation
/// works in place where its input is used no more, as a careful person would have it.
///
/// An Executor has gemm(m, n, k, x, w, y), and elements(count, body) and lines(count, body), which
/// run a body of unfused_operations.hpp. `linear`, where it is given, computes the whole linear
/// layer; else it is the GEMM and a kernel for each operation.
template <class T, class Executor>
class Layers {
 public:
  Layers(const Executor& executor, const LinearFunction<T>& linear, const Buffers<T>& buffers)
      : executor_(executor), linear_(linear), b_(buffers) {}

  using Recipe = std::function<void(Layers&)>;
  /// By the name of a program. A program that is not there cannot be compared, for example because
  /// its random numbers are Postlude's own.
  static const std::map<std::string, Recipe>& recipes() {
    static const std::map<std::string, Recipe> table = make_recipes();
    return table;
  }

 private:
  template <class Formula>
  void unary(const T* in, T* out, std::int64_t count, const Formula& formula) const {
    executor_.elements(count, Unary<T, Formula>{in, out, formula});
  }
  /// On a matrix of y's size.
  template <class Formula>
  void unary(const T* in, T* out, const Formula& formula) const {
    unary(in, out, b_.m * b_.n, formula);
  }
  template <class Formula>
  void binary(const T* a, const T* b, T* out, const Formula& formula) const {
    executor_.elements(b_.m * b_.n, Binary<T, Formula>{a, b, out, formula});
  }
  template <class Formula>
  void with_row(const T* in, const T* row, T* out, const Formula& formula) const {
    executor_.elements(b_.m * b_.n, WithRow<T, Formula>{in, row, out, columns(), formula});
  }
  std::uint32_t columns() const { return static_cast<std::uint32_t>(b_.n); }
  const T* operand(const char* name) const { return b_.operands.at(name); }

  void linear(T* to, Activation activation = Activation::none, const char* bias = "bias") const {
    if (linear_) return linear_({b_.m, b_.n, b_.k, b_.x, b_.w, operand(bias), activation, to});
    executor_.gemm(b_.m, b_.n, b_.k, b_.x, b_.w, to);
    with_row(to, operand(bias), to, Add<T>{});
    if (activation == Activation::relu) unary(to, to, Relu<T>{});
    if (activation == Activation::gelu) unary(to, to, Gelu<T>{});
  }
  void sum(const T* in, T* out, std::int64_t width, double divisor) const {
    executor_.lines(b_.m, LineSum<T>{in, out, width, divisor});
  }
  void logsumexp(const T* in, T* out, std::int64_t width) const {
    executor_.lines(b_.m, LineLogSumExp<T>{in, out, width});
  }
  void softmax(const T* in, T* out) const { executor_.lines(b_.m, Softmax<T>{in, out, b_.n}); }
  void group_norm(std::int64_t groups, const char* weight, const char* bias, T* out) const {
    executor_.lines(b_.m * groups,
                    GroupNorm<T>{b_.y, operand(weight), operand(bias), out, b_.n / groups, groups});
  }
  void normalize(const T* mean, const T* variance, const char* weight, const char* bias,
                 T* out) const {
    executor_.elements(b_.m * b_.n, NormalizeColumns<T>{b_.y, mean, variance, operand(weight),
                                                        operand(bias), out, columns()});
  }
  void batch_norm(const char* weight, const char* bias, T* out) const {
    executor_.elements(b_.n, ColumnMoments<T>{b_.y, b_.row, b_.other_row, b_.m, b_.n});
    normalize(b_.row, b_.other_row, weight, bias, out);
  }

  static std::map<std::string, Recipe> make_recipes() {
    std::map<std::string, Recipe> table;
    table["s1"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, MinNumber<T>{2});
      l.unary(l.b_.y, l.b_.out, AddNumber<T>{-2});
    };
    table["s2_dim0"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.executor_.elements(l.b_.n, ColumnMax<T>{l.b_.y, l.b_.row, l.b_.m, l.b_.n});
      l.executor_.lines(1, LineSum<T>{l.b_.row, l.b_.column, l.b_.n, static_cast<double>(l.b_.n)});
      l.executor_.elements(
          l.b_.n, WithColumn<T, SubtractFrom<T>>{l.b_.column, l.b_.row, l.b_.row, l.columns(), {}});
      l.unary(l.b_.row, l.b_.out, l.b_.n, Gelu<T>{});
    };
    table["s2_dim1"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.executor_.lines(l.b_.m, LineMax<T>{l.b_.y, l.b_.column, l.b_.n});
      l.sum(l.b_.column, l.b_.other_column, 1, 1);
      l.executor_.elements(l.b_.m,
                           Binary<T, Subtract<T>>{l.b_.column, l.b_.other_column, l.b_.column, {}});
      l.unary(l.b_.column, l.b_.out, l.b_.m, Gelu<T>{});
    };
    table["bias_relu"] = [](Layers& l) { l.linear(l.b_.out, Activation::relu); };
    table["multiply_leaky_relu"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, Scale<T>{2});
      l.unary(l.b_.y, l.b_.out, LeakyRelu<T>{T(0.1)});
    };
    table["divide_sum_scale"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, Divide<T>{2});
      l.sum(l.b_.y, l.b_.column, l.b_.n, 1);
      l.unary(l.b_.column, l.b_.out, l.b_.m, Scale<T>{T(1.5)});
    };
    table["scale_clamp_logsumexp_mish"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, Scale<T>{2});
      l.binary(l.b_.y, l.b_.y, l.b_.y, Add<T>{});
      l.unary(l.b_.y, l.b_.y, Clamp<T>{-10, 10});
      l.logsumexp(l.b_.y, l.b_.column, l.b_.n);
      l.unary(l.b_.column, l.b_.other_column, l.b_.m, Mish<T>{});
      l.executor_.elements(l.b_.m,
                           Binary<T, Multiply<T>>{l.b_.column, l.b_.other_column, l.b_.out, {}});
    };
    table["mish_mish"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, Mish<T>{});
      l.unary(l.b_.y, l.b_.out, Mish<T>{});
    };
    table["group_norm_hardtanh"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.group_norm(8, "other", "bias", l.b_.second);
      l.unary(l.b_.second, l.b_.out, Clamp<T>{-2, 2});
    };
    table["scale_batch_norm"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.with_row(l.b_.y, l.operand("other"), l.b_.y, Multiply<T>{});
      l.batch_norm("other", "bias", l.b_.out);
    };
    table["scale_batch_norm_given"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.with_row(l.b_.y, l.operand("other"), l.b_.y, Multiply<T>{});
      l.unary(l.operand("spread"), l.b_.row, l.b_.n, AbsPlusHalf<T>{});
      l.normalize(l.operand("mu"), l.b_.row, "other", "bias", l.b_.out);
    };
    table["silu_add_group_norm"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.second, Sigmoid<T>{});
      l.binary(l.b_.second, l.b_.y, l.b_.y, Multiply<T>{});
      l.with_row(l.b_.y, l.operand("other"), l.b_.y, Add<T>{});
      l.group_norm(16, "other", "bias", l.b_.out);
    };
    table["scale_add_unscaled"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.second, Scale<T>{T(0.5)});
      l.binary(l.b_.second, l.b_.y, l.b_.out, Add<T>{});
    };
    table["batch_norm_gelu_relu"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.batch_norm("other", "mu", l.b_.second);
      l.unary(l.b_.second, l.b_.second, Gelu<T>{});
      l.unary(l.b_.second, l.b_.out, Relu<T>{});
    };
    table["mean_logsumexp_gelu_residual"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.with_row(l.b_.y, l.operand("other"), l.b_.y, Subtract<T>{});
      l.sum(l.b_.y, l.b_.column, l.b_.n, static_cast<double>(l.b_.n));
      l.logsumexp(l.b_.column, l.b_.other_column, 1);
      l.unary(l.b_.other_column, l.b_.column, l.b_.m, Gelu<T>{});
      l.executor_.elements(
          l.b_.m * l.b_.n,
          WithColumn<T, Add<T>>{l.b_.column, l.operand("residual"), l.b_.out, l.columns(), {}});
    };
    table["scale_hardtanh_gelu"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, Scale<T>{T(0.5)});
      l.unary(l.b_.y, l.b_.y, Clamp<T>{-2, 2});
      l.unary(l.b_.y, l.b_.out, Gelu<T>{});
    };
    table["max_pool_sum_scale"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.executor_.elements(l.b_.m * (l.b_.n / 2), MaxPoolPairs<T>{l.b_.y, l.b_.second});
      l.sum(l.b_.second, l.b_.column, l.b_.n / 2, 1);
      l.unary(l.b_.column, l.b_.out, l.b_.m, Scale<T>{T(0.5)});
    };
    table["sigmoid_sum"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, Sigmoid<T>{});
      l.sum(l.b_.y, l.b_.out, l.b_.n, 1);
    };
    table["silu_scale"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, Silu<T>{});
      l.unary(l.b_.y, l.b_.out, Scale<T>{2});
    };
    table["relu_divide"] = [](Layers& l) {
      l.linear(l.b_.y, Activation::relu);
      l.unary(l.b_.y, l.b_.out, Divide<T>{2});
    };
    table["logsumexp_leaky_relu_gelu"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.logsumexp(l.b_.y, l.b_.column, l.b_.n);
      l.unary(l.b_.column, l.b_.column, l.b_.m, LeakyRelu<T>{T(0.01)});
      l.unary(l.b_.column, l.b_.column, l.b_.m, LeakyRelu<T>{T(0.01)});
      l.unary(l.b_.column, l.b_.column, l.b_.m, Gelu<T>{});
      l.unary(l.b_.column, l.b_.out, l.b_.m, Gelu<T>{});
    };
    // Dropout in inference is the identity, and nobody launches a kernel for it.
    table["dropout_inference_softmax"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.softmax(l.b_.y, l.b_.out);
    };
    table["sigmoid_scale_add"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.second, Sigmoid<T>{});
      l.unary(l.b_.second, l.b_.second, Scale<T>{2});
      l.binary(l.b_.second, l.b_.y, l.b_.out, Add<T>{});
    };
    table["add_relu"] = [](Layers& l) { l.linear(l.b_.out, Activation::relu, "other"); };
    table["product"] = [](Layers& l) {
      l.executor_.gemm(l.b_.m, l.b_.n, l.b_.k, l.b_.x, l.b_.w, l.b_.out);
    };
    table["silu_divide_clamp_tanh_clamp"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, Silu<T>{});
      l.unary(l.b_.y, l.b_.y, Divide<T>{2});
      l.unary(l.b_.y, l.b_.y, Clamp<T>{-1, 1});
      l.unary(l.b_.y, l.b_.y, Tanh<T>{});
      l.unary(l.b_.y, l.b_.out, Clamp<T>{-1, 1});
    };
    table["batch_norm_scale_softmax"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.batch_norm("other", "mu", l.b_.second);
      l.unary(l.b_.second, l.b_.second, Scale<T>{2});
      l.softmax(l.b_.second, l.b_.out);
    };
    table["divide_gelu"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, Divide<T>{10});
      l.unary(l.b_.y, l.b_.out, Gelu<T>{});
    };
    table["group_norm_silu_multiply_silu"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.group_norm(8, "other", "bias", l.b_.second);
      l.unary(l.b_.second, l.b_.second, Silu<T>{});
      l.with_row(l.b_.second, l.operand("other"), l.b_.second, Multiply<T>{});
      l.unary(l.b_.second, l.b_.out, Silu<T>{});
    };
    table["gelu_softmax"] = [](Layers& l) {
      l.linear(l.b_.y, Activation::gelu);
      l.softmax(l.b_.y, l.b_.out);
    };
    table["subtract_multiply_relu"] = [](Layers& l) {
      l.linear(l.b_.y);
      l.unary(l.b_.y, l.b_.y, AddNumber<T>{-2});
      l.unary(l.b_.y, l.b_.y, Scale<T>{T(1.5)});
      l.unary(l.b_.y, l.b_.out, Relu<T>{});
    };
    return table;
  }

  const Executor& executor_;
  const LinearFunction<T>& linear_;
  Buffers<T> b_;
};

}  // namespace unfused
}  // namespace perf
}  // namespace postlude

#endif
