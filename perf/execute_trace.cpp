// What one execution asks of the CUDA runtime and driver, as CUPTI's callbacks see it, and how long
// the host takes over each call. Fails when an execution that was given its workspace allocates,
// frees, waits for the device or copies: such a call would block the host or break a capture.

#include <cupti.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine_data.hpp"

namespace {

using namespace postlude;
using namespace postlude::perf;
using Clock = std::chrono::steady_clock;

struct Call {
  int count = 0;
  double seconds = 0;
};

/// Calls of one interface, by name; of those that call others, the outermost.
struct Trace {
  std::map<std::string, Call> calls;
  int depth = 0;
  Clock::time_point entered;
};

void require(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text == nullptr ? "unknown" : text);
  std::exit(2);
}

void CUPTIAPI on_call(void* data, CUpti_CallbackDomain, CUpti_CallbackId, const void* info) {
  auto& trace = *static_cast<Trace*>(data);
  const auto* const call = static_cast<const CUpti_CallbackData*>(info);
  if (call->callbackSite == CUPTI_API_ENTER) {
    if (trace.depth++ == 0) trace.entered = Clock::now();
    return;
  }
  if (--trace.depth != 0) return;
  Call& entry = trace.calls[call->functionName];
  ++entry.count;
  entry.seconds += std::chrono::duration<double>(Clock::now() - trace.entered).count();
}

/// Whether a call allocates, frees, waits or copies.
bool is_forbidden(const std::string& name) {
  for (const char* const part : {"Malloc", "MemAlloc", "Free", "Synchronize", "Memcpy",
                                 "MemGetInfo", "ModuleLoad", "LibraryLoad"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

struct Mode {
  const char* name;
  DataType dtype;
  ComputeMode compute;
  const char* engine;
  bool is_prepared;
};

constexpr Mode modes[] = {
    {"f32", DataType::float32, ComputeMode::f32, "", false},
    {"f32, engine cublaslt", DataType::float32, ComputeMode::f32, "cublaslt", false},
    {"f32, engine kokkos_kernels", DataType::float32, ComputeMode::f32, "kokkos_kernels", false},
    {"f32_fast_tf32", DataType::float32, ComputeMode::f32_fast_tf32, "", false},
    {"f32_emulated_f16x3, engine split", DataType::float32, ComputeMode::f32_emulated_f16x3,
     "split", false},
    {"f32_emulated_f16x3, engine split, prepared weights", DataType::float32,
     ComputeMode::f32_emulated_f16x3, "split", true},
    {"bf16", DataType::bfloat16, ComputeMode::automatic, "", false}};

constexpr std::int64_t rows = 256, in_features = 512, out_features = 512;

/// Traces `turns` executions after some that warm up; returns whether none did what it must not.
bool trace_mode(const Mode& mode, const char* text) {
  constexpr int turns = 50;
  const Space space;
  const FloatMatrix x32 = uniform_matrix(rows, in_features, 1, 0, 1);
  const FloatMatrix w32 = uniform_matrix(out_features, in_features, 2, -1, 1);
  const FloatMatrix bias32 = uniform_matrix(1, out_features, 3, -1, 1);
  const FloatMatrix memory = make_matrix(rows, out_features);
  Tensor x = as_tensor(x32), w = as_tensor(w32), bias = as_tensor(bias32);
  std::vector<SmallMatrix> owners;
  if (mode.dtype != DataType::float32) {
    for (const FloatMatrix& matrix : {x32, w32, bias32})
      owners.push_back(round_to(mode.dtype, matrix).small);
    x = small_tensor(owners[0], mode.dtype);
    w = small_tensor(owners[1], mode.dtype);
    bias = small_tensor(owners[2], mode.dtype);
  }
  bias.rank = 1;
  bias.extent[0] = out_features;
  bias.stride[0] = 1;
  PlanOptions options;
  options.compilation = StageCompilation::always;
  options.engine = mode.engine;
  const Plan plan(space, {x, w, mode.compute}, text, {{"bias", OperandKind::row}}, options);
  std::optional<PreparedWeights> prepared;
  if (mode.is_prepared) prepared.emplace(plan, w);
  const bool is_row = std::strstr(text, "dim=0") != nullptr;
  const Arguments arguments{
      x,
      w,
      {{"bias", bias}},
      {matrix_tensor(memory.data(), mode.dtype, is_row ? 1 : rows, out_features)},
      mode.is_prepared ? &*prepared : nullptr};
  const std::size_t bytes = plan.workspace_bytes();
  // A multiple of the alignment longer, since Kokkos aligns to half of what a workspace needs.
  constexpr std::size_t alignment = 256;
  const Kokkos::View<char*, Kokkos::CudaSpace> memory_of_workspace("workspace", bytes + alignment);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_of_workspace.data());
  char* const workspace =
      memory_of_workspace.data() + (alignment - address % alignment) % alignment;
  const auto execute = [&] { plan.execute(space, arguments, workspace, bytes); };
  for (int i = 0; i < 3; ++i) execute();
  space.fence();

  Clock::time_point begin = Clock::now();
  for (int i = 0; i < turns; ++i) execute();
  const double untraced = std::chrono::duration<double>(Clock::now() - begin).count() / turns;
  space.fence();

  Trace trace;
  CUpti_SubscriberHandle subscriber;
  require(cuptiSubscribe(&subscriber, on_call, &trace), "cuptiSubscribe");
  require(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API), "cuptiEnableDomain");
  require(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), "cuptiEnableDomain");
  begin = Clock::now();
  for (int i = 0; i < turns; ++i) execute();
  const double traced = std::chrono::duration<double>(Clock::now() - begin).count() / turns;
  require(cuptiUnsubscribe(subscriber), "cuptiUnsubscribe");
  space.fence();

  std::printf("\n%s, `%s`: %.2f us an execution (%.2f us while it was traced)\n", mode.name, text,
              untraced * 1e6, traced * 1e6);
  bool good = !trace.calls.empty();
  if (!good) std::printf("  no call was seen\n");
  for (const auto& [name, call] : trace.calls) {
    const bool is_bad = is_forbidden(name);
    good = good && !is_bad;
    std::printf("  %-40s %6.2f calls, %6.2f us%s\n", name.c_str(),
                static_cast<double>(call.count) / turns, call.seconds / turns * 1e6,
                is_bad ? "   <- must not happen" : "");
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  bool good = true;
  for (const Mode& mode : modes) good &= trace_mode(mode, "relu(y + bias)");
  good &= trace_mode(modes[0], "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))");
  std::printf("\n%s\n", good ? "no execution allocates, waits or copies"
                             : "an execution allocates, waits or copies");
  return good ? 0 : 1;
}
