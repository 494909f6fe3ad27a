#include "evaluator/small_floats.hpp"

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
using detail::BFloat16;
using detail::Float16;

namespace {

double value_of(Float16 number) { return detail::reference::from_float16(number.bits); }
double value_of(BFloat16 number) { return detail::reference::from_bfloat16(number.bits); }

DataType dtype_of(Float16) { return DataType::float16; }
DataType dtype_of(BFloat16) { return DataType::bfloat16; }

template <class Small>
Small from_float(float value) {
  return detail::Convert<Small, float>::from(value);
}
template <class Small>
Small from_double(double value) {
  return detail::Convert<Small, double>::from(value);
}

/// The bits of the nearest number by definition, NaN apart.
template <class Small>
std::uint16_t expected_bits(double value) {
  return nearest_bits(dtype_of(Small()), value);
}

template <class Small>
bool is_right(Small result, double value) {
  if (std::isnan(value)) return std::isnan(value_of(result));
  return result.bits == expected_bits<Small>(value);
}

/// Wrong conversions of this value, from float where it is one, and from double.
template <class Small>
int wrong(double value) {
  int count = is_right(from_double<Small>(value), value) ? 0 : 1;
  const auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) == value)
    count += is_right(from_float<Small>(narrow), value) ? 0 : 1;
  if (count > 0) UNSCOPED_INFO("wrong for " << value);
  return count;
}

template <class Small>
void check_every_pattern() {
  int inexact = 0;
  int changed = 0;
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const Small number = {static_cast<std::uint16_t>(pattern)};
    const double exact = value_of(number);
    const float narrow = detail::Convert<float, Small>::from(number);
    const double wide = detail::Convert<double, Small>::from(number);
    if (std::isnan(exact)) {
      inexact += std::isnan(narrow) && std::isnan(wide) ? 0 : 1;
      changed += std::isnan(value_of(from_float<Small>(narrow))) &&
                         std::isnan(value_of(from_double<Small>(wide)))
                     ? 0
                     : 1;
      continue;
    }
    const bool same_sign = std::signbit(exact) == std::signbit(narrow);
    inexact += static_cast<double>(narrow) == exact && wide == exact && same_sign ? 0 : 1;
    changed += from_float<Small>(narrow).bits == pattern && from_double<Small>(wide).bits == pattern
                   ? 0
                   : 1;
  }
  CHECK(inexact == 0);
  CHECK(changed == 0);
}

/// Around the middle of every two neighbours: the middle, the floats and the doubles beside it.
template <class Small>
void check_ties() {
  int failures = 0;
  const int infinity = dtype_of(Small()) == DataType::float16 ? 0x7c00 : 0x7f80;
  for (int pattern = 0; pattern + 1 < infinity; ++pattern) {
    const double low = value_of(Small{static_cast<std::uint16_t>(pattern)});
    const double high = value_of(Small{static_cast<std::uint16_t>(pattern + 1)});
    const double tie = low + (high - low) / 2;
    const auto narrow = static_cast<float>(tie);
    REQUIRE(static_cast<double>(narrow) == tie);
    for (const double sign : {1.0, -1.0}) {
      failures += wrong<Small>(sign * tie);
      failures += wrong<Small>(sign * static_cast<double>(std::nextafterf(narrow, 0)));
      failures += wrong<Small>(sign * static_cast<double>(std::nextafterf(narrow, HUGE_VALF)));
      // Rounded to float first, these would become the tie.
      failures += wrong<Small>(sign * std::nextafter(tie, 0.0));
      failures += wrong<Small>(sign * std::nextafter(tie, HUGE_VAL));
      failures += wrong<Small>(sign * std::nextafter(low, HUGE_VAL));
      failures += wrong<Small>(sign * std::nextafter(high, 0.0));
    }
  }
  CHECK(failures == 0);
}

template <class Small>
void check_random() {
  Random random;
  INFO(random.hint());
  int failures = 0;
  for (int i = 0; i < 1000000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random.below(std::int64_t(1) << 32));
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    failures += wrong<Small>(static_cast<double>(value));
    // Over the range of the format, where most patterns of a float do not fall.
    failures +=
        wrong<Small>(std::ldexp(random.uniform(-1, 1), static_cast<int>(random.below(48)) - 30));
  }
  CHECK(failures == 0);
}

}  // namespace

TEST_CASE("every 16-bit pattern has its exact value, and comes back", "[unit]") {
  check_every_pattern<Float16>();
  check_every_pattern<BFloat16>();
}

TEST_CASE("16-bit numbers round to nearest, ties to even, once", "[unit]") {
  check_ties<Float16>();
  check_ties<BFloat16>();
}

TEST_CASE("any float or double rounds to the nearest 16-bit number", "[unit]") {
  check_random<Float16>();
  check_random<BFloat16>();
}

TEST_CASE("16-bit numbers overflow to infinity from halfway on, and keep NaN", "[unit]") {
  CHECK(from_float<Float16>(65504.0f).bits == 0x7bff);
  CHECK(from_float<Float16>(65519.996f).bits == 0x7bff);
  CHECK(from_float<Float16>(65520.0f).bits == 0x7c00);
  CHECK(from_float<Float16>(-65520.0f).bits == 0xfc00);
  CHECK(from_double<Float16>(std::nextafter(65520.0, 0.0)).bits == 0x7bff);
  CHECK(from_double<Float16>(65520.0).bits == 0x7c00);
  CHECK(from_double<Float16>(1e300).bits == 0x7c00);
  CHECK(from_double<BFloat16>(-1e300).bits == 0xff80);
  CHECK(from_float<BFloat16>(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(from_float<BFloat16>(0x1.fep127f).bits == 0x7f7f);
  CHECK(from_double<BFloat16>(std::nextafter(0x1.ffp127, 0.0)).bits == 0x7f7f);
  CHECK(from_double<BFloat16>(0x1.ffp127).bits == 0x7f80);
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()}) {
    CHECK(std::isnan(value_of(from_float<Float16>(value))));
    CHECK(std::isnan(value_of(from_float<BFloat16>(value))));
    CHECK(std::isnan(value_of(from_double<Float16>(static_cast<double>(value)))));
    CHECK(std::isnan(value_of(from_double<BFloat16>(static_cast<double>(value)))));
  }
  // A NaN whose set bits are all in the half that is cut off.
  const float low_nan = detail::float_of(0x7f800001u);
  CHECK(std::isnan(value_of(from_float<BFloat16>(low_nan))));
  CHECK(std::isnan(value_of(from_float<Float16>(low_nan))));
}

TEST_CASE("16-bit subnormals and zeros keep their sign and digits", "[unit]") {
  CHECK(from_float<Float16>(0x1p-24f).bits == 1);
  CHECK(from_float<Float16>(-0x1p-24f).bits == 0x8001);
  CHECK(from_float<Float16>(0x1p-25f).bits == 0);
  CHECK(from_float<Float16>(0x1.000002p-25f).bits == 1);
  CHECK(from_float<Float16>(0x1.8p-24f).bits == 2);
  CHECK(from_float<Float16>(-0.0f).bits == 0x8000);
  CHECK(from_float<Float16>(-0x1p-30f).bits == 0x8000);
  CHECK(from_float<BFloat16>(0x1p-133f).bits == 1);
  CHECK(from_float<BFloat16>(0x1p-134f).bits == 0);
  CHECK(from_float<BFloat16>(0x1.8p-133f).bits == 2);
  CHECK(from_double<BFloat16>(std::nextafter(0x1p-134, 1.0)).bits == 1);
  CHECK(from_double<Float16>(5e-324).bits == 0);
  CHECK(from_double<Float16>(-5e-324).bits == 0x8000);
}
