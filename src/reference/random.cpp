#include "reference/random.hpp"

#include <array>
#include <cmath>

namespace postlude {
namespace detail {
namespace reference {
namespace {

using Words = std::array<std::uint64_t, 4>;  // 32 bits each, in room for their products

constexpr std::uint64_t low = 0xffffffff;

/// One round of the paper's section 3.3: multiply, cross over, mix in the key.
Words one_round(const Words& x, std::uint64_t key_0, std::uint64_t key_1) {
  const std::uint64_t a = x[0] * 0xD2511F53;
  const std::uint64_t b = x[2] * 0xCD9E8D57;
  return {(b >> 32) ^ x[1] ^ key_0, b & low, (a >> 32) ^ x[3] ^ key_1, a & low};
}

}  // namespace

double uniform(std::uint64_t index, std::uint64_t seed) {
  const std::uint64_t counter = index / 4;
  Words x = {counter & low, counter >> 32, 0, 0};
  for (std::uint64_t i = 0; i < 10; ++i)
    // The Weyl sequences of the key: the golden ratio and sqrt(3) - 1.
    x = one_round(x, ((seed & low) + i * 0x9E3779B9) & low, ((seed >> 32) + i * 0xBB67AE85) & low);
  return std::ldexp(static_cast<double>(x[index % 4] >> 8), -24);
}

}  // namespace reference
}  // namespace detail
}  // namespace postlude
