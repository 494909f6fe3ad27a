#ifndef POSTLUDE_CAPI_LAST_ERROR_HPP
#define POSTLUDE_CAPI_LAST_ERROR_HPP

namespace postlude {
namespace detail {
namespace capi {

/// Replaces the calling thread's last error message by a copy of `text`. When there is no memory
/// for the copy, the message becomes a static text that says so.
void set_last_error(const char* text) noexcept;

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
