// Who initialises and finalises Kokkos: the host when it wants to, else the library, and nobody is
// surprised when the other has done so. This program shares one Kokkos with the C interface, which
// it therefore contains instead of linking the shared library.

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "support.h"

namespace {

postlude_plan* create_plan(postlude_context* context) {
  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  problem.x = matrix_of(context, nullptr, POSTLUDE_FLOAT32, M, K, POSTLUDE_ROW_MAJOR);
  problem.w = matrix_of(context, nullptr, POSTLUDE_FLOAT32, N, K, POSTLUDE_ROW_MAJOR);
  postlude_plan* plan = nullptr;
  REQUIRE(postlude_plan_create(context, &problem, "relu(y)", nullptr, 0, nullptr, &plan) ==
          POSTLUDE_SUCCESS);
  return plan;
}

/// The host initialises Kokkos and finalises it while handles of the library are alive.
void host_owns_kokkos(postlude_backend backend) {
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
  postlude_context* context = create_context(backend);
  postlude_plan* plan = create_plan(context);
  postlude_context* other = create_context(backend);
  EXPECT_SUCCESS(postlude_context_destroy(other));
  EXPECT(Kokkos::is_initialized());
  Kokkos::finalize();

  postlude_backend found = 0;
  postlude_memory_space space = 0;
  postlude_context* late = context;
  postlude_plan* late_plan = plan;
  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  postlude_bindings bindings = POSTLUDE_BINDINGS_INIT;
  postlude_check_result result = POSTLUDE_CHECK_RESULT_INIT;
  postlude_result_info info = POSTLUDE_RESULT_INFO_INIT;
  char host[8] = {0};
  void* memory = nullptr;
  size_t number = 0;
  double flops = 0;
  double bytes = 0;
  const char* text = nullptr;
  EXPECT_STATUS(postlude_context_create(nullptr, &late), POSTLUDE_NOT_INITIALIZED);
  EXPECT(late == nullptr);
  EXPECT_STATUS(postlude_context_backend(context, &found), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_context_synchronize(context), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_context_memory_space(context, &space), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_allocate(context, 8, &memory), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_free(context, host), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_copy_to_backend(context, host, host, 8), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_copy_to_host(context, host, host, 8), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_plan_create(context, &problem, "y", nullptr, 0, nullptr, &late_plan),
                POSTLUDE_NOT_INITIALIZED);
  EXPECT(late_plan == nullptr);
  EXPECT_STATUS(postlude_plan_workspace_size(plan, &number), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_plan_result_count(plan, &number), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_plan_result(plan, 0, &info), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_plan_work(plan, &flops, &bytes), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_plan_explain(plan, &text), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_execute(plan, &bindings, nullptr), POSTLUDE_NOT_INITIALIZED);
  EXPECT_STATUS(postlude_check(plan, &bindings, 0, &result, 1), POSTLUDE_NOT_INITIALIZED);
  EXPECT(strstr(postlude_last_error_message(), "Kokkos") != nullptr);

  EXPECT_SUCCESS(postlude_context_destroy(context));
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  EXPECT_STATUS(postlude_plan_destroy(plan), POSTLUDE_INVALID_ARGUMENT);
}

postlude_context* context_left = nullptr;
postlude_plan* plan_left = nullptr;

/// Runs after the library's own exit handler, which was registered later.
void destroy_after_the_end() {
  EXPECT(!Kokkos::is_initialized());
  EXPECT_SUCCESS(postlude_plan_destroy(plan_left));
  EXPECT_SUCCESS(postlude_context_destroy(context_left));
  if (failure_count != 0) std::_Exit(1);
}

/// Several threads make the first context at once; handles are destroyed after everything is over.
void library_owns_kokkos(postlude_backend backend) {
  std::atexit(destroy_after_the_end);
  EXPECT(!Kokkos::is_initialized());
  std::vector<postlude_context*> contexts(4, nullptr);
  std::vector<std::thread> threads;
  for (postlude_context*& context : contexts)
    threads.emplace_back([&context, backend] { context = create_context(backend); });
  for (std::thread& thread : threads) thread.join();
  EXPECT(Kokkos::is_initialized());
  for (std::size_t i = 1; i < contexts.size(); ++i)
    EXPECT_SUCCESS(postlude_context_destroy(contexts[i]));
  EXPECT(Kokkos::is_initialized());
  context_left = contexts[0];
  plan_left = create_plan(context_left);
}

}  // namespace

int main(int argc, char** argv) {
  const bool host = argc > 2 && std::string(argv[2]) == "host";
  const postlude_backend backend = backend_of_arguments(argc, argv);
  host ? host_owns_kokkos(backend) : library_owns_kokkos(backend);
  return finish(host ? "kokkos_lifecycle host" : "kokkos_lifecycle library");
}
