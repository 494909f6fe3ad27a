#include "support/catch.hpp"

#include <string>
#include <vector>

#include <postlude/error.hpp>

#include "support/error_model.hpp"
#include "support/programs.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

namespace {

/// Programs of every structure: how stages, passes and results hang together.
const std::vector<std::string>& programs() {
  static const std::vector<std::string> list = {
      // The founding workloads.
      "min(y + bias, c) - c", "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))",
      "m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))",
      // One pass.
      "y", "y + 1", "relu(y) + y", "gelu(y + bias) * scale + residual * c - gain",
      // The branches meet where y is bias: rounding may decide there for either.
      "where(y > bias, silu(y - bias), residual * (y - bias)) * y + y",
      "(y * y + y) * (y - scale) + bias * (y + residual) - tanh(y) * gain",
      // Reductions of reductions.
      "mean(max(y, dim=0), dim=1)", "max(mean(y, dim=1), dim=0)", "sum(sum(y, dim=1), dim=1)",
      "logsumexp(max(y + scale, dim=1), dim=0) + min(y, dim=0)",
      // Reduced values go back into the matrix.
      "e = exp(y - max(y, dim=1)); e / sum(e, dim=1)",
      "e = exp(y - max(y, dim=0)); e / sum(e, dim=0)",
      "d = y - mean(y, dim=1); d / sqrt(mean(d * d, dim=1) + 0.01) * bias + bias",
      "y - logsumexp(y, dim=1) + mean(y, dim=0)", "y / (norm(y, dim=1) + 1)",
      "y * mean(y, dim=0) * mean(y, dim=1) + mean(mean(y, dim=0), dim=1)",
      // More reductions than one pass takes.
      "sum(y, dim=1) + mean(y, dim=1) + max(y, dim=1) + min(y, dim=1) + logsumexp(y, dim=1) + "
      "norm(y, dim=1)",
      "sum(y, dim=0) + mean(y, dim=0) + max(y, dim=0) + min(y, dim=0) + logsumexp(y, dim=0) + "
      "norm(y, dim=0)",
      // Several results, and y among them.
      "return y, relu(y)", "return relu(y), y", "z = y + bias; return sum(relu(z), dim=1), z",
      "z = y + bias; return z, sum(z, dim=0), z * 2, max(z, dim=1)",
      "m = max(y, dim=1); return m, y - m, m + 1, mean(m, dim=0)",
      "m = mean(y, dim=0); return y - m, y, relu(y), m",
      "return sum(y, dim=0), sum(y, dim=1), sum(sum(y, dim=0), dim=1)",
      // A result that is computed before y's last reader, and one after.
      "a = relu(y); s = sum(a, dim=1); return a, y * s, s",
      "s = mean(y, dim=1); t = max(y - s, dim=0); return y + t, y - s, t, s",
      // Results of every broadcast shape, with and without y.
      "return c + gain, bias * c, scale + gain, residual, bias * scale, y",
      "return 3, c, bias, scale, gain", "bias + scale",
      "return max(residual, dim=1), sum(bias, dim=1), mean(scale, dim=0), residual * bias",
      "sum(bias * scale, dim=0) + c",
      // The same value under two names.
      "a = tanh(y); b = a; return a, b, a + b"};
  return list;
}

std::string join(const std::string& text) {
  std::string line = text;
  for (char& c : line)
    if (c == '\n') c = ';';
  return line;
}

void check_program(const Epilogue& epilogue, const Settings& settings,
                   const std::vector<OperandDeclaration>& operands) {
  Random random;
  INFO(random.hint());
  INFO(join(epilogue.text()) << ", " << describe(settings));
  Workload workload(settings, epilogue, operands);
  workload.fill_real(random);
  workload.execute();
  check_real(workload);
}

/// A random expression whose values stay of the size of its inputs.
class RandomExpression {
 public:
  explicit RandomExpression(Random& random) : random_(random) {}

  Expression make(int depth) {
    if (depth == 0) return leaf();
    switch (random_.below(16)) {
      case 0:
        return make(depth - 1) + make(depth - 1);
      case 1:
        return make(depth - 1) - make(depth - 1);
      case 2:
        return tanh(make(depth - 1)) * make(depth - 1);
      case 3:
        return min(make(depth - 1), make(depth - 1));
      case 4:
        return max(make(depth - 1), make(depth - 1));
      case 5:
        return clamp(make(depth - 1), random_.uniform(-1, 0), make(depth - 1));
      case 6:
        return relu(make(depth - 1));
      case 7:
        return gelu(make(depth - 1));
      case 8:
        return sigmoid(make(depth - 1));
      case 9:
        return -abs(make(depth - 1));
      case 10:
        return reduce(Reduction::max, make(depth - 1), dim());
      case 11:
        return reduce(Reduction::min, make(depth - 1), dim());
      case 12:
        return reduce(Reduction::mean, make(depth - 1), dim());
      case 13:
        return reuse(make(depth - 1));
      default:
        return known_.empty() ? make(depth - 1) : known_[pick(known_.size())];
    }
  }

  /// Made before; later expressions may use it again.
  Expression reuse(const Expression& expression) {
    known_.push_back(expression);
    return expression;
  }

 private:
  std::size_t pick(std::size_t count) {
    return static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(count)));
  }
  int dim() { return static_cast<int>(random_.below(2)); }
  Expression leaf() {
    const Expression leaves[] = {y(),
                                 y(),
                                 y(),
                                 row("bias"),
                                 row("other"),
                                 column("scale"),
                                 scalar("c"),
                                 element("g"),
                                 matrix("residual"),
                                 Expression(2),
                                 Expression(random_.uniform(-1, 1))};
    return leaves[pick(sizeof leaves / sizeof leaves[0])];
  }

  Random& random_;
  std::vector<Expression> known_;
};

}  // namespace

TEST_CASE("programs of every structure agree with the reference", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const std::string& program : programs())
    for (const Settings& settings : sizes_and_layouts(dtype))
      check_program(program, settings, operands_of_every_kind());
}

TEST_CASE("indices are exact, as results and in arithmetic", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const std::string program :
       {"return argmax(y, dim=1), argmin(y, dim=0)",
        "i = argmax(y + bias, dim=0); return i, i + 1, y * 0 + i",
        "i = argmin(abs(y), dim=1); j = i; return i, j, argmax(i, dim=0)"}) {
    for (const Settings& settings : sizes_and_layouts(dtype)) {
      Random random;
      INFO(random.hint());
      INFO(program << ", " << describe(settings));
      Workload workload(settings, program, operands_of_every_kind());
      workload.fill_exact(random);
      workload.execute();
      check_exact(workload);
    }
  }
}

TEST_CASE("random programs agree with the reference", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  std::int64_t refused = 0;
  constexpr int count = 300;
  for (int i = 0; i < count; ++i) {
    Random random;
    INFO(random.hint());
    RandomExpression expressions(random);
    std::vector<Epilogue::Result> results;
    const std::int64_t result_count = 1 + random.below(4);
    for (std::int64_t r = 0; r < result_count; ++r)
      results.push_back({"result" + std::to_string(r),
                         expressions.reuse(expressions.make(static_cast<int>(random.below(7))))});
    Settings settings;
    settings.m = 1 + random.below(90);
    settings.n = 1 + random.below(200);
    settings.k = 1 + random.below(20);
    settings.dtype = dtype;
    settings = layouts_of(settings)[static_cast<std::size_t>(random.below(5))];
    const Epilogue epilogue(results);
    INFO(describe(settings) << "\n"
                            << to_string(detail::lower(epilogue, {1, settings.m, settings.n},
                                                       settings.k, {})));
    try {
      Workload workload(settings, epilogue);
      workload.fill_real(random);
      workload.execute();
      check_real(workload);
    } catch (const Error& error) {
      INFO(error.what());
      // A program may be larger than a stage can be; anything else is a failure.
      CHECK(error.status() == Status::unsupported);
      ++refused;
    }
  }
  CHECK(refused < count / 10);
}
