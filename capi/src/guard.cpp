#include "guard.hpp"

#include <postlude/error.hpp>

#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include "last_error.hpp"

namespace postlude {
namespace detail {
namespace capi {

postlude_status report_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    set_last_error(error.what());
    return static_cast<postlude_status>(error.status());
  } catch (const std::bad_alloc&) {
    set_last_error("out of memory: the host could not allocate");
    return POSTLUDE_OUT_OF_MEMORY;
  } catch (const std::length_error&) {
    // The standard containers throw this for sizes that no memory could hold.
    set_last_error("out of memory: a size exceeds what a container can hold");
    return POSTLUDE_OUT_OF_MEMORY;
  } catch (const std::logic_error& error) {
    set_last_error(error.what());
    return POSTLUDE_INTERNAL_ERROR;
  } catch (const std::runtime_error& error) {
    // Postlude itself only throws Error, so this is Kokkos or a vendor library speaking. Kokkos 4
    // has no exception type for a failed allocation: its text is all that tells.
    set_last_error(error.what());
    return std::strstr(error.what(), "failed to allocate") ? POSTLUDE_OUT_OF_MEMORY
                                                           : POSTLUDE_BACKEND_FAILURE;
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return POSTLUDE_INTERNAL_ERROR;
  } catch (...) {
    set_last_error("internal error: an exception of unknown type was thrown");
    return POSTLUDE_INTERNAL_ERROR;
  }
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude
