#include "handle.hpp"

#include <vector>

namespace postlude {
namespace detail {
namespace capi {

void abandon(std::shared_ptr<void> state) {
  // Never destroyed, and reachable, so that leak checkers see that it is meant.
  static std::vector<std::shared_ptr<void>>& states = *new std::vector<std::shared_ptr<void>>;
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  states.push_back(std::move(state));
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude
