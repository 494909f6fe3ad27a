#ifndef POSTLUDE_REFERENCE_SMALL_FLOATS_HPP
#define POSTLUDE_REFERENCE_SMALL_FLOATS_HPP

#include <cstdint>

namespace postlude {
namespace detail {
namespace reference {

/// The value of an IEEE 754 binary16.
double from_float16(std::uint16_t bits);
/// The value of a bfloat16, the upper half of a binary32.
double from_bfloat16(std::uint16_t bits);

}  // namespace reference
}  // namespace detail
}  // namespace postlude

#endif
