#include "expression/composites.hpp"

#include <cmath>
#include <utility>

#include "expression/number_text.hpp"

namespace postlude {
namespace detail {
namespace {

class Composer {
 public:
  Composer(const std::vector<NodePointer>& arguments, SourceSpan span, const std::string& text)
      : arguments_(arguments), span_(span), text_(text), v_(arguments[0]) {}

  NodePointer compose(Composite composite) const {
    switch (composite) {
      case Composite::softmax:
        return softmax(dim(1));
      case Composite::log_softmax:
        return log_softmax(dim(1));
      case Composite::layer_norm:
      case Composite::instance_norm:
        return normalize(row_mean(v_), row_variance(v_), 1, 2, 3);
      case Composite::rms_norm:
        return rms_norm();
      case Composite::group_norm:
        return group_norm();
      case Composite::batch_norm:
        return batch_norm();
      case Composite::l2_normalize:
        return l2_normalize(dim(1));
      case Composite::max_pool:
        return pool(Reduction::max);
      case Composite::avg_pool:
        return pool(Reduction::mean);
      case Composite::dropout:
        return dropout();
    }
    throw Error(Status::internal_error, "a composite function has no formula");
  }

 private:
  NodePointer apply(Operation operation, std::vector<NodePointer> inputs) const {
    return make_operation(operation, std::move(inputs), span_, text_);
  }
  NodePointer reduce(Reduction reduction, const NodePointer& value, int dim,
                     double parameter = 0) const {
    return make_reduction(reduction, value, dim, parameter, span_, text_);
  }
  NodePointer number(double value) const { return make_constant(value, span_); }

  const NodePointer& argument(std::size_t index) const { return arguments_[index]; }
  int dim(std::size_t index) const { return dimension_of(*argument(index), text_); }

  double epsilon(std::size_t index) const {
    const double value = constant_of(*argument(index), "eps", text_);
    if (!(value >= 0))
      fail_at(Status::invalid_argument,
              "eps is " + number_text(value) + ": expected a number that is not negative", text_,
              argument(index)->span);
    return value;
  }

  std::int64_t positive_integer(std::size_t index, const std::string& what) const {
    const double value = constant_of(*argument(index), what, text_);
    if (!(value >= 1 && value <= 1e15 && value == std::floor(value)))
      fail_at(Status::invalid_argument,
              what + " is " + number_text(value) + ": expected a positive integer", text_,
              argument(index)->span);
    return static_cast<std::int64_t>(value);
  }

  NodePointer row_mean(const NodePointer& value) const { return reduce(Reduction::mean, value, 1); }
  NodePointer row_variance(const NodePointer& value) const {
    return reduce(Reduction::var, value, 1, 0);
  }

  NodePointer softmax(int dim) const {
    const NodePointer shifted = apply(Operation::subtract, {v_, reduce(Reduction::max, v_, dim)});
    const NodePointer powers = apply(Operation::exp, {shifted});
    return apply(Operation::divide, {powers, reduce(Reduction::sum, powers, dim)});
  }

  NodePointer log_softmax(int dim) const {
    const NodePointer shifted = apply(Operation::subtract, {v_, reduce(Reduction::max, v_, dim)});
    const NodePointer total = reduce(Reduction::sum, apply(Operation::exp, {shifted}), dim);
    return apply(Operation::subtract, {shifted, apply(Operation::log, {total})});
  }

  NodePointer with_affine(NodePointer value, std::size_t weight, std::size_t bias) const {
    if (argument(weight) != nullptr) value = apply(Operation::multiply, {value, argument(weight)});
    if (argument(bias) != nullptr) value = apply(Operation::add, {value, argument(bias)});
    return value;
  }

  NodePointer inverse_deviation(const NodePointer& variance, double eps) const {
    return apply(Operation::rsqrt, {apply(Operation::add, {variance, number(eps)})});
  }

  /// (v - mean) / sqrt(variance + eps) * weight + bias, with the indices of the last three.
  NodePointer normalize(const NodePointer& mean, const NodePointer& variance, std::size_t weight,
                        std::size_t bias, std::size_t eps) const {
    const NodePointer centred = apply(Operation::subtract, {v_, mean});
    const NodePointer scaled =
        apply(Operation::multiply, {centred, inverse_deviation(variance, epsilon(eps))});
    return with_affine(scaled, weight, bias);
  }

  NodePointer rms_norm() const {
    const NodePointer mean_square = reduce(Reduction::mean, apply(Operation::square, {v_}), 1);
    const NodePointer scaled =
        apply(Operation::multiply, {v_, inverse_deviation(mean_square, epsilon(2))});
    return argument(1) == nullptr ? scaled : apply(Operation::multiply, {scaled, argument(1)});
  }

  NodePointer group_norm() const {
    const Window window{positive_integer(1, "groups"), 0, 0};
    const auto in_full = [&](const NodePointer& value) {
      return make_repeat(value, v_, span_, text_);
    };
    const NodePointer mean = make_window_reduction(Reduction::mean, v_, window, span_, text_);
    const NodePointer variance = make_window_reduction(Reduction::var, v_, window, span_, text_);
    return normalize(in_full(mean), in_full(variance), 2, 3, 4);
  }

  NodePointer batch_norm() const {
    if ((argument(1) == nullptr) != (argument(2) == nullptr))
      fail_at(Status::invalid_argument, "batch_norm takes mean and var together, or neither", text_,
              span_);
    const NodePointer mean = argument(1) != nullptr ? argument(1) : reduce(Reduction::mean, v_, 0);
    const NodePointer variance =
        argument(2) != nullptr ? argument(2) : reduce(Reduction::var, v_, 0, 0);
    return normalize(mean, variance, 3, 4, 5);
  }

  NodePointer l2_normalize(int dim) const {
    const NodePointer norm = reduce(Reduction::norm, v_, dim, 2);
    return apply(Operation::divide, {v_, apply(Operation::max, {norm, number(epsilon(2))})});
  }

  NodePointer pool(Reduction reduction) const {
    const std::int64_t kernel = positive_integer(1, "kernel");
    const std::int64_t stride = argument(2) == nullptr ? kernel : positive_integer(2, "stride");
    return make_window_reduction(reduction, v_, Window{0, kernel, stride}, span_, text_);
  }

  NodePointer dropout() const {
    const NodePointer& p = argument(1);
    if (p->kind == NodeKind::constant) {
      if (!(p->constant >= 0 && p->constant <= 1))
        fail_at(Status::invalid_argument,
                "p is " + number_text(p->constant) + ": expected a number between 0 and 1", text_,
                p->span);
      if (p->constant == 0) return v_;
      if (p->constant == 1) return apply(Operation::multiply, {v_, number(0)});
    }
    const NodePointer& seed = argument(2);
    if (seed->kind == NodeKind::constant && !is_valid_seed(seed->constant))
      fail_at(Status::invalid_argument,
              "seed is " + number_text(seed->constant) +
                  ": expected a whole number of magnitude at most 2**53",
              text_, seed->span);
    const NodePointer uniform = make_random(v_, argument(2), span_, text_);
    const NodePointer kept =
        apply(Operation::reciprocal, {apply(Operation::subtract, {number(1), p})});
    const NodePointer mask =
        apply(Operation::where, {apply(Operation::less, {uniform, p}), number(0), kept});
    return apply(Operation::multiply, {v_, mask});
  }

  const std::vector<NodePointer>& arguments_;
  SourceSpan span_;
  const std::string& text_;
  const NodePointer& v_;
};

}  // namespace

NodePointer expand(Composite composite, const std::vector<NodePointer>& arguments, SourceSpan span,
                   const std::string& text) {
  return Composer(arguments, span, text).compose(composite);
}

bool is_valid_seed(double value) {
  return std::fabs(value) <= 9007199254740992.0 && value == std::floor(value);
}

double constant_of(const Node& node, const std::string& what, const std::string& text) {
  if (node.kind != NodeKind::constant)
    fail_at(Status::syntax_error, "'" + what + "' must be a number", text, node.span);
  return node.constant;
}

int dimension_of(const Node& node, const std::string& text) {
  const double value = constant_of(node, "dim", text);
  if (value == 0 || value == -2) return 0;
  if (value == 1 || value == -1) return 1;
  fail_at(Status::invalid_argument,
          "dim is " + number_text(value) +
              ": expected 0 or -2 (over the rows), 1 or -1 (over the columns)",
          text, node.span);
}

}  // namespace detail
}  // namespace postlude
