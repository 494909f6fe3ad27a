#include "support/errors.hpp"

#include "support/catch.hpp"

namespace postlude {
namespace test {

std::string check_error_parts(Status status, const std::function<void()>& call,
                              const std::vector<std::string>& parts) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    INFO("message: " << message.substr(0, 2000));
    CHECK(std::string(status_name(error.status())) == status_name(status));
    for (const std::string& part : parts) {
      INFO("expected in it: " << part);
      CHECK(message.find(part) != std::string::npos);
    }
    return message;
  }
  FAIL_CHECK("no Error was thrown, expected " << status_name(status));
  return "";
}

}  // namespace test
}  // namespace postlude
