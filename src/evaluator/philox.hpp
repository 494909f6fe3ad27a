#ifndef POSTLUDE_EVALUATOR_PHILOX_HPP
#define POSTLUDE_EVALUATOR_PHILOX_HPP

#include <cstdint>

#include "evaluator/function.hpp"

namespace postlude {
namespace detail {

/// Philox 4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011): four random
/// words from a 64-bit counter and a 64-bit key.
struct PhiloxWords {
  std::uint32_t words[4];
};

POSTLUDE_FUNCTION PhiloxWords philox(std::uint64_t counter, std::uint64_t key) {
  std::uint32_t c0 = static_cast<std::uint32_t>(counter);
  std::uint32_t c1 = static_cast<std::uint32_t>(counter >> 32);
  std::uint32_t c2 = 0;
  std::uint32_t c3 = 0;
  std::uint32_t k0 = static_cast<std::uint32_t>(key);
  std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t(0xd2511f53u) * c0;
    const std::uint64_t product1 = std::uint64_t(0xcd9e8d57u) * c2;
    c0 = static_cast<std::uint32_t>(product1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(product1);
    c2 = static_cast<std::uint32_t>(product0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(product0);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return {{c0, c1, c2, c3}};
}

/// The uniform number of element `index`, of the words of counter index / 4: of word index % 4 the
/// upper 24 bits, in [0, 1). Exact in float32, so every backend and dtype has the same.
POSTLUDE_FUNCTION float uniform_of(const PhiloxWords& random, std::uint64_t index) {
  // Not by an index, which would keep the words out of a device's registers.
  const std::uint32_t place = static_cast<std::uint32_t>(index % 4);
  const std::uint32_t word = place == 0   ? random.words[0]
                             : place == 1 ? random.words[1]
                             : place == 2 ? random.words[2]
                                          : random.words[3];
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

/// The uniform numbers of elements for a seed. Of four neighbours, which share a counter, the words
/// are computed once where they are asked for one after another.
class PhiloxNeighbours {
 public:
  POSTLUDE_FUNCTION explicit PhiloxNeighbours(std::uint64_t seed) : seed_(seed) {}

  POSTLUDE_FUNCTION float uniform(std::uint64_t index) {
    if (index / 4 != counter_) {
      counter_ = index / 4;
      random_ = philox(counter_, seed_);
    }
    return uniform_of(random_, index);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = ~std::uint64_t(0);  ///< that of no element
  PhiloxWords random_ = {};
};

}  // namespace detail
}  // namespace postlude

#endif
