#ifndef POSTLUDE_CLI_SMALL_FLOATS_HPP
#define POSTLUDE_CLI_SMALL_FLOATS_HPP

#include <cstdint>

namespace postlude {
namespace cli {

// float16 (IEEE 754 binary16) and bfloat16 as the 16 bits that are stored. Both conversions round
// to the nearest, ties to even; what is too large becomes an infinity, and NaN stays NaN.

std::uint16_t float16_of(float value);
std::uint16_t bfloat16_of(float value);

/// The exact value of a stored float16.
float value_of_float16(std::uint16_t bits);

}  // namespace cli
}  // namespace postlude

#endif
