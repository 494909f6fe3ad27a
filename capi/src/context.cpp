#include "context.hpp"

#include <postlude/backend.hpp>
#include <postlude/error.hpp>

#include <string>

#include "convert.hpp"
#include "guard.hpp"
#include "kokkos_runtime.hpp"
#include "structs.hpp"

namespace {

using namespace postlude::detail::capi;
using postlude::Backend;
using postlude::Error;
using postlude::Status;

/// From the fastest to the slowest.
constexpr Backend all_backends[] = {Backend::cuda,   Backend::hip,     Backend::sycl,
                                    Backend::openmp, Backend::threads, Backend::serial};

/// Kokkos has room for this many OpenMP threads and does not check.
constexpr std::int32_t most_threads = 512;

bool is_backend(postlude_backend number) {
  return number >= POSTLUDE_BACKEND_SERIAL && number <= POSTLUDE_BACKEND_SYCL;
}

std::string available_names() {
  std::string names;
  for (const Backend backend : all_backends)
    if (is_available(backend)) names += (names.empty() ? "" : ", ") + std::string(name_of(backend));
  return names;
}

Backend chosen_backend(postlude_backend number) {
  if (number != POSTLUDE_BACKEND_DEFAULT && !is_backend(number))
    throw Error(Status::invalid_argument,
                "options.backend is " + std::to_string(number) +
                    ": expected a postlude_backend, POSTLUDE_BACKEND_DEFAULT (0) to "
                    "POSTLUDE_BACKEND_SYCL (6)");
  for (const Backend backend : all_backends)
    if (is_available(backend) &&
        (number == POSTLUDE_BACKEND_DEFAULT || number == static_cast<postlude_backend>(backend)))
      return backend;
  throw Error(Status::unsupported, std::string("options.backend is ") +
                                       postlude_backend_name(number) +
                                       ": this build of Postlude has " + available_names());
}

bool is_accelerator(Backend backend) {
  return backend == Backend::cuda || backend == Backend::hip || backend == Backend::sycl;
}

std::shared_ptr<ContextState> make_context(const postlude_context_options& options) {
  DeviceRequest request;
  request.backend = chosen_backend(options.backend);
  request.stream = options.stream;
  if (is_accelerator(request.backend)) {
    if (options.device < -1)
      throw Error(Status::invalid_argument,
                  "options.device is " + std::to_string(options.device) +
                      ": expected a device number, or -1 for the current one");
    request.number = options.device;
  }
  if (options.threads < 0 || options.threads > most_threads)
    throw Error(Status::invalid_argument, "options.threads is " + std::to_string(options.threads) +
                                              ": expected 1 to " + std::to_string(most_threads) +
                                              ", or 0 for all");
  const bool stages_host_memory =
      to_flag(options.stages_host_memory, ArgumentName("options").member("stages_host_memory"));
  KokkosSettings settings;
  settings.threads = options.threads;
  settings.device = request.number;
  ensure_kokkos(settings);
  auto context = std::make_shared<ContextState>();
  context->device = make_device(request);
  context->stages_host_memory =
      stages_host_memory && context->device->memory_space() == postlude::MemorySpace::device;
  return context;
}

}  // namespace

postlude_status postlude_context_create(const postlude_context_options* options,
                                        postlude_context** context) {
  return guard([&] {
    require_pointer(context, "context", "a place for the handle");
    *context = nullptr;
    postlude_context_options known = POSTLUDE_CONTEXT_OPTIONS_INIT;
    if (options != nullptr) known = read_struct(options, "options");
    *context = new postlude_context(make_context(known));
  });
}

postlude_status postlude_context_destroy(postlude_context* context) {
  return guard([&] { destroy_handle<ContextState>(context); });
}

postlude_status postlude_context_backend(const postlude_context* context,
                                         postlude_backend* backend) {
  return guard([&] {
    const auto& state = state_of(context);
    require_pointer(backend, "backend", "a place for the answer");
    *backend = static_cast<postlude_backend>(state->device->backend());
  });
}

postlude_status postlude_context_synchronize(postlude_context* context) {
  return guard([&] { state_of(context)->device->synchronize(); });
}

postlude_status postlude_context_memory_space(const postlude_context* context,
                                              postlude_memory_space* space) {
  return guard([&] {
    const auto& state = state_of(context);
    require_pointer(space, "space", "a place for the answer");
    *space = static_cast<postlude_memory_space>(state->device->memory_space());
  });
}

const char* postlude_backend_name(postlude_backend backend) {
  return is_backend(backend) ? name_of(static_cast<Backend>(backend)) : "unknown backend";
}

int32_t postlude_backend_available(postlude_backend backend) {
  return is_backend(backend) && is_available(static_cast<Backend>(backend)) ? 1 : 0;
}
