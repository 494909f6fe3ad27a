#ifndef POSTLUDE_CLI_HANDLES_HPP
#define POSTLUDE_CLI_HANDLES_HPP

#include <postlude.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "cli_error.hpp"

namespace postlude {
namespace cli {

/// Turns a failed call of the C interface into a CliError with the interface's message.
inline void require(postlude_status status) {
  if (status == POSTLUDE_SUCCESS) return;
  std::string message = postlude_last_error_message();
  if (message.empty()) message = postlude_status_name(status);
  // Other unknown names are functions, keywords and engines.
  if (status == POSTLUDE_UNKNOWN_NAME &&
      message.find("neither a name of the language nor a declared operand") != std::string::npos)
    message += "\nOperands are given with -D name=VALUE.";
  throw CliError(message);
}

struct ContextDeleter {
  void operator()(postlude_context* context) const { postlude_context_destroy(context); }
};
using Context = std::unique_ptr<postlude_context, ContextDeleter>;

struct PlanDeleter {
  void operator()(postlude_plan* plan) const { postlude_plan_destroy(plan); }
};
using Plan = std::unique_ptr<postlude_plan, PlanDeleter>;

/// Memory that the backend reads and writes.
class BackendMemory {
 public:
  BackendMemory() = default;
  BackendMemory(postlude_context* context, std::size_t bytes) : context_(context) {
    require(postlude_allocate(context, bytes, &memory_));
  }
  BackendMemory(BackendMemory&& other) noexcept
      : context_(other.context_), memory_(std::exchange(other.memory_, nullptr)) {}
  BackendMemory& operator=(BackendMemory&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~BackendMemory() {
    if (memory_ != nullptr) postlude_free(context_, memory_);
  }

  void* data() const { return memory_; }

 private:
  postlude_context* context_ = nullptr;
  void* memory_ = nullptr;
};

}  // namespace cli
}  // namespace postlude

#endif
