#ifndef POSTLUDE_PROGRAM_GUARDED_VANISHING_DIFFERENCE_HPP
#define POSTLUDE_PROGRAM_GUARDED_VANISHING_DIFFERENCE_HPP

#include "program/program.hpp"

namespace postlude {
namespace detail {

/// A difference that is a zero whenever one value is finite.
struct VanishingDifference {
  int of = -1;  ///< that value, -1 where there is none
  bool may_be_negative_zero = false;
};

/// Whether `value` is v - v, v - (v + 0) or (v + 0) - v.
/// Proof: for finite v, v - v is +0. v + 0 is v, but +0 for v = -0: then v - (v + 0) is -0 - +0,
/// which is -0, and (v + 0) - v is +0 - -0, which is +0.
VanishingDifference vanishing_difference(const Program& program, const Value& value);

}  // namespace detail
}  // namespace postlude

#endif
