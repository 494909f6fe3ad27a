#include "last_error.hpp"

#include <postlude.h>

#include <string>

namespace postlude {
namespace detail {
namespace capi {
namespace {

thread_local std::string message_storage;
/// Points into message_storage or at a literal, so that reporting never needs memory.
thread_local const char* message = "";

}  // namespace

void set_last_error(const char* text) noexcept {
  try {
    message_storage = text;
    message = message_storage.c_str();
  } catch (...) {
    message = "out of memory: not even the message of the failure could be stored";
  }
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude

const char* postlude_last_error_message(void) { return postlude::detail::capi::message; }
