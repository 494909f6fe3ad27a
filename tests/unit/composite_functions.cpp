#include <string>

#include <postlude/expression.hpp>

#include "program/lower.hpp"
#include "support/catch.hpp"

namespace postlude {
namespace {

std::string lowered(const Epilogue& epilogue) {
  return detail::to_string(detail::lower(epilogue, {1, 6, 12}, 5,
                                         {{"weight", OperandKind::row},
                                          {"bias", OperandKind::row},
                                          {"running_mean", OperandKind::row},
                                          {"running_var", OperandKind::row},
                                          {"seed", OperandKind::scalar}}));
}

}  // namespace

TEST_CASE("C++ functions of normalisation, pooling and dropout build the program of the text",
          "[unit]") {
  const auto same = [](const Expression& expression, const std::string& text) {
    INFO(text);
    CHECK(lowered(Epilogue(expression)) == lowered(text));
  };
  const Expression v = y();
  const NormOptions affine{row("weight"), row("bias"), 0.5};
  same(softmax(v, -1), "softmax(y, dim=1)");
  same(log_softmax(v, 0), "log_softmax(y, dim=0)");
  same(layer_norm(v), "layer_norm(y)");
  same(layer_norm(v, affine), "layer_norm(y, weight, bias, eps=0.5)");
  same(instance_norm(v, affine), "instance_norm(y, weight=weight, bias=bias, eps=0.5)");
  same(rms_norm(v), "rms_norm(y)");
  same(rms_norm(v, row("weight"), 0.25), "rms_norm(y, weight, 0.25)");
  same(group_norm(v, 3, affine), "group_norm(y, groups=3, weight=weight, bias=bias, eps=0.5)");
  same(batch_norm(v), "batch_norm(y)");
  same(batch_norm(v, row("running_mean"), row("running_var"), affine),
       "batch_norm(y, running_mean, running_var, weight, bias, eps=0.5)");
  same(l2_normalize(v, 0), "l2_normalize(y, dim=0)");
  same(max_pool(v, 4), "max_pool(y, kernel=4)");
  same(avg_pool(v, 4, 2), "avg_pool(y, kernel=4, stride=2)");
  same(dropout(v, 0.25, scalar("seed")), "dropout(y, p=0.25, seed=seed)");
}

}  // namespace postlude
