#include "evaluator/philox.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include "reference/random.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

using namespace postlude;

namespace {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

/// Philox 4x32-10 on all of its counter, as the paper has it (Salmon et al., Parallel Random
/// Numbers: As Easy as 1, 2, 3, 2011). The library uses half of the counter.
Counter philox_4x32_10(Counter x, Key key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t(x[0]) * 0xD2511F53;
    const std::uint64_t b = std::uint64_t(x[2]) * 0xCD9E8D57;
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return x;
}

float uniform_number(std::uint64_t index, std::uint64_t seed) {
  return detail::PhiloxNeighbours(seed).uniform(index);
}

Counter library_philox(std::uint64_t counter, std::uint64_t key) {
  const detail::PhiloxWords words = detail::philox(counter, key);
  return {words.words[0], words.words[1], words.words[2], words.words[3]};
}

}  // namespace

TEST_CASE("Philox gives the words of its known-answer test", "[unit]") {
  const Counter zeros = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  CHECK(library_philox(0, 0) == zeros);
  // The test's other lines set all of the counter.
  CHECK(philox_4x32_10({0, 0, 0, 0}, {0, 0}) == zeros);
  CHECK(
      philox_4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
      Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(
      philox_4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
      Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the library's Philox is Philox for every counter and seed", "[unit]") {
  test::Random random;
  INFO(random.hint());
  const auto word = [&] { return static_cast<std::uint32_t>(random.below(std::int64_t(1) << 32)); };
  for (int i = 0; i < 20000; ++i) {
    const Counter counter = {word(), i % 3 == 0 ? 0 : word(), 0, 0};
    const Key key = {word(), i % 2 == 0 ? 0 : word()};
    const std::uint64_t index = std::uint64_t(counter[1]) << 32 | counter[0];
    const std::uint64_t seed = std::uint64_t(key[1]) << 32 | key[0];
    const Counter expected = philox_4x32_10(counter, key);
    REQUIRE(library_philox(index, seed) == expected);
    // Four elements share a counter; the upper 24 bits of their words are their numbers.
    for (std::uint64_t lane = 0; lane < 4 && index < std::uint64_t(1) << 62; ++lane) {
      const float number = uniform_number(4 * index + lane, seed);
      REQUIRE(static_cast<double>(number) == std::ldexp(expected[lane] >> 8, -24));
      REQUIRE(static_cast<double>(number) == detail::reference::uniform(4 * index + lane, seed));
    }
  }
}

TEST_CASE("neighbours that share a counter have the numbers that each has by itself", "[unit]") {
  test::Random random;
  INFO(random.hint());
  for (int i = 0; i < 200; ++i) {
    const auto seed = static_cast<std::uint64_t>(random.below(std::int64_t(1) << 62));
    detail::PhiloxNeighbours neighbours(seed);
    auto index = static_cast<std::uint64_t>(random.below(std::int64_t(1) << (i % 60 + 2)));
    for (int j = 0; j < 100; ++j) {
      REQUIRE(neighbours.uniform(index) == uniform_number(index, seed));
      // On, back, on the spot, and as far as a column's next element.
      index += static_cast<std::uint64_t>(random.below(3)) - 1;
      if (j % 10 == 0) index += static_cast<std::uint64_t>(random.below(4096));
    }
  }
}

TEST_CASE("uniform numbers fill [0, 1) evenly", "[unit]") {
  test::Random random;
  INFO(random.hint());
  const auto seed = static_cast<std::uint64_t>(random.below(std::int64_t(1) << 62));
  constexpr int count = 1 << 18;
  constexpr int bins = 64;
  std::array<int, bins> filled = {};
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const float uniform = uniform_number(static_cast<std::uint64_t>(i), seed);
    REQUIRE((uniform >= 0 && uniform < 1));
    ++filled[static_cast<std::size_t>(uniform * bins)];
    sum += static_cast<double>(uniform);
  }
  // Five and a half standard deviations: one false alarm in hundreds of thousands of runs.
  const double expected = double(count) / bins;
  for (const int bin : filled) CHECK(std::abs(bin - expected) < 5.5 * std::sqrt(expected));
  CHECK(std::abs(sum / count - 0.5) < 5.5 / std::sqrt(12.0 * count));
}
