#ifndef POSTLUDE_PERF_RANDOM_FILL_HPP
#define POSTLUDE_PERF_RANDOM_FILL_HPP

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace postlude {
namespace perf {

/// A counter-based generator: a number depends on the seed and its index alone, and so is the same
/// for every backend and number of threads. It is the finaliser of SplitMix64 (Steele, Lea and
/// Flood, 2014) on a Weyl sequence, whose start the seed sets far apart for neighbouring seeds.
KOKKOS_INLINE_FUNCTION std::uint64_t random_bits(std::uint64_t seed, std::int64_t index) {
  std::uint64_t bits =
      seed * 0xd1342543de82ef95ull + 0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(index + 1);
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  return bits ^ (bits >> 31);
}

/// In [0, 1), a multiple of 2^-53.
KOKKOS_INLINE_FUNCTION double random_uniform(std::uint64_t seed, std::int64_t index) {
  return static_cast<double>(random_bits(seed, index) >> 11) * 0x1p-53;
}

/// Uniform in [low, high), rounded to float.
struct FillUniform {
  float* data;
  std::uint64_t seed;
  double low, high;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    data[i] = static_cast<float>(low + (high - low) * random_uniform(seed, i));
  }
};

}  // namespace perf
}  // namespace postlude

#endif
