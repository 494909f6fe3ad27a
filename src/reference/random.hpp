#ifndef POSTLUDE_REFERENCE_RANDOM_HPP
#define POSTLUDE_REFERENCE_RANDOM_HPP

#include <cstdint>

namespace postlude {
namespace detail {
namespace reference {

/// The uniform number in [0, 1) of element `index` for a seed: Philox 4x32-10 (Salmon et al., 2011)
/// with counter index / 4, of whose four words word index % 4 gives its upper 24 bits.
double uniform(std::uint64_t index, std::uint64_t seed);

}  // namespace reference
}  // namespace detail
}  // namespace postlude

#endif
