#ifndef POSTLUDE_TESTS_SUPPORT_RANDOM_HPP
#define POSTLUDE_TESTS_SUPPORT_RANDOM_HPP

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace postlude {
namespace test {

/// Random numbers from a fresh seed, or from the environment variable POSTLUDE_TEST_SEED. Give
/// hint() to Catch's INFO, so that a failure says how to repeat it.
class Random {
 public:
  Random() : seed_(choose_seed()), engine_(seed_) {}

  std::string hint() const { return "repeat with POSTLUDE_TEST_SEED=" + std::to_string(seed_); }

  /// In [low, high).
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  /// In [0, count).
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(count));
  }
  /// A multiple of 1/4 in [-2, 2], never 0. Sums of at most 2^18 products of two of these are exact
  /// in float32, whatever their order.
  double quarter() {
    const auto steps = static_cast<double>(1 + below(8));
    return (below(2) == 0 ? steps : -steps) / 4;
  }

 private:
  static std::uint64_t choose_seed() {
    if (const char* text = std::getenv("POSTLUDE_TEST_SEED"))
      return std::strtoull(text, nullptr, 10);
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) | device();
  }

  std::uint64_t seed_;
  std::mt19937_64 engine_;
};

}  // namespace test
}  // namespace postlude

#endif
