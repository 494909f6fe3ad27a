#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "evaluator/formulas.hpp"
#include "reference/formulas.hpp"
#include "support/catch.hpp"

using namespace postlude;

// The formulas in float32 against float64 over the whole range of a float.
//
// eps = 2^-23. What is evaluated in float64 (evaluator/host_functions.hpp) has an error of 5e-10
// before it is rounded once, eps/2; a library function in float32 has 2 eps at most here. Where the
// result is subnormal, half of the smallest number is lost instead. Bounds, relative to the true
// value where it is a normal number; `smallest` = 2^-149:
//
// | function                              | relative error, eps | absolute, where it is subnormal |
// |---------------------------------------|---------------------|---------------------------------|
// | log, log1p, erf                       | 2                   | smallest                        |
// | exp, expm1, tanh, sigmoid, silu,      | 0.6                 | smallest                        |
// | logsigmoid, softplus, mish, the GELUs |                     |                                 |
//
// tests/conformance holds every backend to the error model of the suite; this table is the host's.

namespace {

constexpr double eps = 0x1p-23;
constexpr double smallest = 0x1p-149;
constexpr double smallest_normal = 0x1p-126;
constexpr double largest = 0x1.fffffep127;

struct Bound {
  Operation operation;
  std::string name;
  std::function<float(float)> formula;
  double relative;  ///< in eps
};

double true_value(Operation operation, double v) {
  const double inputs[] = {v, 1, 20};  // softplus has beta and threshold
  return detail::reference::apply(operation, inputs);
}

const std::vector<Bound>& bounds() {
  namespace f = detail::formula;
  using O = Operation;
  static const std::vector<Bound> table = {
      {O::exp, "exp", f::exp<float>, 0.6},
      {O::expm1, "expm1", f::expm1<float>, 0.6},
      {O::log, "log", f::log<float>, 2},
      {O::log1p, "log1p", f::log1p<float>, 2},
      {O::erf, "erf", f::erf<float>, 2},
      {O::tanh, "tanh", f::tanh<float>, 0.6},
      {O::sigmoid, "sigmoid", f::sigmoid<float>, 0.6},
      {O::silu, "silu", f::silu<float>, 0.6},
      {O::logsigmoid, "logsigmoid", f::logsigmoid<float>, 0.6},
      {O::softplus, "softplus", [](float v) { return f::softplus(v, 1.0f, 20.0f); }, 0.6},
      {O::mish, "mish", f::mish<float>, 0.6},
      {O::gelu, "gelu", f::gelu<float>, 0.6},
      {O::gelu_tanh, "gelu_tanh", f::gelu_tanh<float>, 0.6}};
  return table;
}

struct Worst {
  double relative = 0;  ///< in eps, where the true value is normal
  double at = 0;
  double absolute = 0;  ///< in units of the smallest number, where it is not
  int not_finite = 0;   ///< NaN or Inf where the true value is finite, or the reverse
  int beyond = 0;       ///< the bound
};

Worst sweep(const Bound& bound) {
  Worst worst;
  constexpr std::uint64_t step = 4099;
  for (std::uint64_t pattern = 0; pattern < std::uint64_t(1) << 32; pattern += step) {
    const auto bits = static_cast<std::uint32_t>(pattern);
    float v = 0;
    std::memcpy(&v, &bits, sizeof v);
    if (std::isnan(v)) continue;
    const double wide = static_cast<double>(v);
    const double expected = true_value(bound.operation, wide);
    const double found = static_cast<double>(bound.formula(v));
    const bool overflows = std::abs(expected) > largest;
    if (std::isnan(expected) || std::isinf(expected) || overflows) {
      const bool agrees = std::isnan(expected)
                              ? std::isnan(found)
                              : found == std::copysign(HUGE_VAL, expected) ||
                                    (overflows && std::abs(expected) < largest * (1 + 4 * eps));
      worst.not_finite += agrees ? 0 : 1;
      continue;
    }
    if (!std::isfinite(found)) {
      // In the last units below the largest number an overflow is a rounding error.
      worst.not_finite += std::abs(expected) > largest * (1 - 4 * eps) ? 0 : 1;
      continue;
    }
    const double error = std::abs(found - expected);
    if (std::abs(expected) >= smallest_normal) {
      const double relative = error / (eps * std::abs(expected));
      if (relative > worst.relative) {
        worst.relative = relative;
        worst.at = wide;
      }
      worst.beyond += error <= bound.relative * eps * std::abs(expected) + smallest ? 0 : 1;
    } else {
      worst.absolute = std::max(worst.absolute, error / smallest);
      worst.beyond += error <= bound.relative * eps * std::abs(expected) + smallest ? 0 : 1;
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("functions keep their error bounds over the whole range of a float", "[unit]") {
  for (const Bound& bound : bounds()) {
    const Worst worst = sweep(bound);
    std::fprintf(stderr, "%-10s at most %.2f eps (at %g), subnormal results off by %.2f units\n",
                 bound.name.c_str(), worst.relative, worst.at, worst.absolute);
    INFO(bound.name << ": at most " << worst.relative << " eps, at " << worst.at
                    << "; subnormal results off by at most " << worst.absolute << " units");
    CHECK(worst.not_finite == 0);
    CHECK(worst.beyond == 0);
  }
}

TEST_CASE("functions keep NaN of either sign, and their limits", "[unit]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Bound& bound : bounds()) {
    INFO(bound.name);
    CHECK(std::isnan(bound.formula(nan)));
    CHECK(std::isnan(bound.formula(std::copysign(nan, -1.0f))));
    for (const float v : {infinity, -infinity, 0.0f, -0.0f}) {
      const float expected =
          static_cast<float>(true_value(bound.operation, static_cast<double>(v)));
      INFO("at " << v);
      CHECK((bound.formula(v) == expected || std::isnan(expected)));
    }
  }
  CHECK(std::signbit(detail::formula::expm1(-0.0f)));
  CHECK(std::signbit(detail::formula::tanh(-0.0f)));
}

TEST_CASE("a clamp gives NaN for each of its arguments that is NaN", "[unit]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float v : {-2.0f, 0.5f, 3.0f}) {
    INFO("of " << v);
    CHECK(detail::formula::clamp(v, 0.0f, 1.0f) == std::min(std::max(v, 0.0f), 1.0f));
    CHECK(std::isnan(detail::formula::clamp(v, nan, 1.0f)));
    CHECK(std::isnan(detail::formula::clamp(v, 0.0f, nan)));
  }
  CHECK(std::isnan(detail::formula::clamp(nan, 0.0f, 1.0f)));
}
