#ifndef POSTLUDE_CAPI_GUARD_HPP
#define POSTLUDE_CAPI_GUARD_HPP

#include <postlude.h>

namespace postlude {
namespace detail {
namespace capi {

/// Translates the exception being handled: stores its text as the last error of the calling thread
/// and returns its status. Must be called from a catch block.
postlude_status report_current_exception() noexcept;

/// Runs the body of a C function; no exception leaves it.
template <class Body>
postlude_status guard(Body&& body) noexcept {
  try {
    body();
    return POSTLUDE_SUCCESS;
  } catch (...) {
    return report_current_exception();
  }
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
