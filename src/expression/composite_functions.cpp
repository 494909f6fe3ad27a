#include <utility>

#include <postlude/expression.hpp>

#include "expression/composites.hpp"

namespace postlude {
namespace {

using detail::NodePointer;

/// Null for a value that was left out.
NodePointer optional(const std::optional<Expression>& value) {
  return value ? value->node() : nullptr;
}

NodePointer number(double value) { return detail::make_constant(value, {}); }

NodePointer number(std::int64_t value) { return number(static_cast<double>(value)); }

Expression compose(Composite composite, std::vector<NodePointer> arguments) {
  return Expression(detail::expand(composite, arguments, {}, ""));
}

Expression pool(Composite composite, const Expression& v, std::int64_t kernel,
                std::int64_t stride) {
  return compose(composite, {v.node(), number(kernel), stride == 0 ? nullptr : number(stride)});
}

}  // namespace

Expression softmax(const Expression& v, int dim) {
  return compose(Composite::softmax, {v.node(), number(std::int64_t(dim))});
}

Expression log_softmax(const Expression& v, int dim) {
  return compose(Composite::log_softmax, {v.node(), number(std::int64_t(dim))});
}

Expression layer_norm(const Expression& v, const NormOptions& options) {
  return compose(Composite::layer_norm,
                 {v.node(), optional(options.weight), optional(options.bias), number(options.eps)});
}

Expression instance_norm(const Expression& v, const NormOptions& options) {
  return compose(Composite::instance_norm,
                 {v.node(), optional(options.weight), optional(options.bias), number(options.eps)});
}

Expression rms_norm(const Expression& v, const std::optional<Expression>& weight, double eps) {
  return compose(Composite::rms_norm, {v.node(), optional(weight), number(eps)});
}

Expression group_norm(const Expression& v, std::int64_t groups, const NormOptions& options) {
  return compose(Composite::group_norm, {v.node(), number(groups), optional(options.weight),
                                         optional(options.bias), number(options.eps)});
}

Expression batch_norm(const Expression& v, const NormOptions& options) {
  return compose(Composite::batch_norm, {v.node(), nullptr, nullptr, optional(options.weight),
                                         optional(options.bias), number(options.eps)});
}

Expression batch_norm(const Expression& v, const Expression& mean, const Expression& var,
                      const NormOptions& options) {
  return compose(Composite::batch_norm,
                 {v.node(), mean.node(), var.node(), optional(options.weight),
                  optional(options.bias), number(options.eps)});
}

Expression l2_normalize(const Expression& v, int dim, double eps) {
  return compose(Composite::l2_normalize, {v.node(), number(std::int64_t(dim)), number(eps)});
}

Expression max_pool(const Expression& v, std::int64_t kernel, std::int64_t stride) {
  return pool(Composite::max_pool, v, kernel, stride);
}

Expression avg_pool(const Expression& v, std::int64_t kernel, std::int64_t stride) {
  return pool(Composite::avg_pool, v, kernel, stride);
}

Expression dropout(const Expression& v, const Expression& p, const Expression& seed) {
  return compose(Composite::dropout, {v.node(), p.node(), seed.node()});
}

}  // namespace postlude
