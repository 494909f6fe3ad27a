#define CATCH_CONFIG_RUNNER  // Catch2 v2: its implementation goes here, without its main
#include "cli/small_floats.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "reference/small_floats.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/small_float_rounding.hpp"

using namespace postlude;
using namespace postlude::test;

namespace {

using detail::reference::from_bfloat16;
using detail::reference::from_float16;

float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

bool is_right(float value) {
  const std::uint16_t half = cli::float16_of(value);
  const std::uint16_t brain = cli::bfloat16_of(value);
  if (std::isnan(value)) return std::isnan(from_float16(half)) && std::isnan(from_bfloat16(brain));
  const auto exact = static_cast<double>(value);
  return half == nearest_bits(DataType::float16, exact) &&
         brain == nearest_bits(DataType::bfloat16, exact);
}

/// Wrong conversions, of which the first is kept to be shown.
struct Failures {
  int count = 0;
  float first = 0;

  void try_signs(float magnitude) {
    for (const float value : {magnitude, -magnitude}) {
      if (is_right(value)) continue;
      if (count++ == 0) first = value;
    }
  }

  /// A number, and the floats below and above it.
  void try_around(double value) {
    const auto narrow = static_cast<float>(value);
    REQUIRE(static_cast<double>(narrow) == value);
    try_signs(narrow);
    try_signs(std::nextafterf(narrow, 0));
    try_signs(std::nextafterf(narrow, HUGE_VALF));
  }

  void require_none() const {
    INFO("the first of them is " << first);
    CHECK(count == 0);
  }
};

/// At every number of a format, and halfway to the next: to where it overflows, for the largest.
template <class ValueOf>
void check_ties(int infinity, double first_that_overflows, const ValueOf& value_of) {
  Failures failures;
  for (int pattern = 0; pattern < infinity; ++pattern) {
    const double low = value_of(static_cast<std::uint16_t>(pattern));
    const double high = pattern + 1 == infinity ? first_that_overflows
                                                : value_of(static_cast<std::uint16_t>(pattern + 1));
    failures.try_around(low);
    failures.try_around(low + (high - low) / 2);
  }
  failures.require_none();
}

}  // namespace

TEST_CASE("the command rounds to the nearest 16-bit number, ties to even") {
  check_ties(0x7c00, 0x1p16, from_float16);
  check_ties(0x7f80, 0x1p128, from_bfloat16);
}

TEST_CASE("the command rounds any float to the nearest 16-bit number") {
  Random random;
  INFO(random.hint());
  Failures failures;
  for (int i = 0; i < 1000000; ++i) {
    failures.try_signs(float_of(static_cast<std::uint32_t>(random.below(std::int64_t(1) << 31))));
    // Over the range of float16, where most patterns of a float do not fall.
    const int exponent = static_cast<int>(random.below(48)) - 30;
    failures.try_signs(static_cast<float>(std::ldexp(random.uniform(0.5, 1), exponent)));
  }
  failures.require_none();
}

TEST_CASE("the command keeps infinities and NaN in 16 bits") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(cli::float16_of(infinity) == 0x7c00);
  CHECK(cli::float16_of(-infinity) == 0xfc00);
  CHECK(cli::bfloat16_of(infinity) == 0x7f80);
  CHECK(cli::bfloat16_of(-infinity) == 0xff80);
  // The payload of the first is in its lower half alone.
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0x7fa00000u})
    CHECK((is_right(float_of(bits)) && is_right(-float_of(bits))));
}

TEST_CASE("the command shows the exact value of every float16") {
  int count = 0;
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const double expected = from_float16(bits);
    const auto shown = static_cast<double>(cli::value_of_float16(bits));
    const bool is_same = std::isnan(expected) ? std::isnan(shown) : shown == expected;
    count += is_same && std::signbit(shown) == (pattern >= 0x8000) ? 0 : 1;
  }
  CHECK(count == 0);
}

int main(int argc, char* argv[]) { return Catch::Session().run(argc, argv); }
