#ifndef POSTLUDE_CAPI_HANDLE_HPP
#define POSTLUDE_CAPI_HANDLE_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <postlude/error.hpp>

#include "kokkos_runtime.hpp"

namespace postlude {
namespace detail {
namespace capi {

/// What an opaque handle of the C interface points to: a small shell around the shared state.
///
/// `State` says how the handle is called in messages and how it is recognised:
/// `handle_name` ("context"), `handle_source` ("postlude_context_create") and `handle_mark`.
template <class State>
struct Handle {
  explicit Handle(std::shared_ptr<State> shared_state)
      : mark(State::handle_mark), state(std::move(shared_state)) {}

  std::atomic<std::uint64_t> mark;
  std::shared_ptr<State> state;
};

constexpr std::uint64_t destroyed_mark = 0x6465616468616e64;

template <class State>
[[noreturn]] void fail_handle(const std::string& fault) {
  throw Error(Status::invalid_argument, std::string(State::handle_name) + " is " + fault +
                                            ": expected a handle from " + State::handle_source);
}

/// Throws unless `handle` points at a shell of the right kind that was not destroyed. A shell is
/// recognised by its mark: this finds null, destroyed and mixed up handles, but cannot defend
/// against a pointer that may not be read at all.
template <class State>
void require_handle(const Handle<State>* handle) {
  if (handle == nullptr) fail_handle<State>("null");
  if (reinterpret_cast<std::uintptr_t>(handle) % alignof(Handle<State>) != 0)
    fail_handle<State>("not a handle");
  const std::uint64_t mark = handle->mark.load();
  if (mark == destroyed_mark) fail_handle<State>("a destroyed handle");
  if (mark != State::handle_mark) fail_handle<State>("not a handle of this kind");
}

/// The state behind a handle; throws also when Kokkos can no longer be used.
template <class State>
const std::shared_ptr<State>& state_of(const Handle<State>* handle) {
  require_handle(handle);
  require_kokkos();
  return handle->state;
}

/// Keeps the shells of the last destroyed handles, so that using or destroying one of them again is
/// answered with a status instead of being undefined.
template <class Shell>
void retire(Shell* shell) {
  constexpr std::size_t kept = 64;
  // Trivially destructible, so that a handle may be destroyed in a host's exit handler.
  static Shell* shells[kept] = {};
  static std::size_t next = 0;
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  delete shells[next];
  shells[next] = shell;
  next = (next + 1) % kept;
}

/// Keeps `state` for ever: after Kokkos is finalised what it owns can no longer be released.
void abandon(std::shared_ptr<void> state);

/// The body of a destroy function.
template <class State, class Shell>
void destroy_handle(Shell* shell) {
  if (shell == nullptr) return;
  Handle<State>* handle = shell;
  require_handle(handle);
  std::uint64_t expected = State::handle_mark;
  if (!handle->mark.compare_exchange_strong(expected, destroyed_mark))
    fail_handle<State>("a destroyed handle");
  if (kokkos_is_usable())
    handle->state.reset();
  else
    abandon(std::move(handle->state));
  retire(shell);
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
