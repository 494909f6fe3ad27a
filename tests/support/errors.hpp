#ifndef POSTLUDE_TESTS_SUPPORT_ERRORS_HPP
#define POSTLUDE_TESTS_SUPPORT_ERRORS_HPP

#include <functional>
#include <string>
#include <vector>

#include <postlude/error.hpp>

namespace postlude {
namespace test {

std::string check_error_parts(Status status, const std::function<void()>& call,
                              const std::vector<std::string>& parts);

/// Checks that `call()` throws Error with this status and a message that contains every one of
/// `parts`; returns the message.
template <class... Parts>
std::string check_error(Status status, const std::function<void()>& call, const Parts&... parts) {
  return check_error_parts(status, call, std::vector<std::string>{std::string(parts)...});
}

}  // namespace test
}  // namespace postlude

#endif
