#ifndef POSTLUDE_CLI_RANDOM_FILL_HPP
#define POSTLUDE_CLI_RANDOM_FILL_HPP

#include <postlude.h>

#include <cstddef>
#include <cstdint>

namespace postlude {
namespace cli {

/// A seed from the system's source of randomness.
std::uint64_t fresh_seed();

/// Uniform numbers in [low, high), rounded to the element type; those of float16 and bfloat16 are
/// the ones of float32, rounded once more, which may reach `high`. Element i depends only on
/// `seed`, `stream` and i, so that the numbers are the same for any number of threads; different
/// streams are independent tensors.
struct UniformNumbers {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  double low = 0;
  double high = 1;
};

/// The first number of a stream.
double random_number(const UniformNumbers& numbers);

/// Fills `elements` elements of a floating-point type on all host threads.
void random_fill(void* data, postlude_dtype dtype, std::size_t elements,
                 const UniformNumbers& numbers);

}  // namespace cli
}  // namespace postlude

#endif
