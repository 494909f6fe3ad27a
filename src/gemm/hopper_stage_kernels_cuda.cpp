#include "gemm/hopper_stage_kernels.hpp"

#include <string>

#include <postlude/error.hpp>

#include "compilation/compile_at_once.hpp"
#include "compilation/kernel_cache.hpp"
#include "compilation/runtime_program.hpp"
#include "compilation/stage_code.hpp"
#include "evaluator/quotient_up.hpp"
#include "evaluator/reducers.hpp"
#include "gemm/cuda_status.hpp"
#include "gemm/dependent_launch.hpp"

namespace postlude {
namespace detail {
namespace {

/// Bytes a thread may keep in local memory: more would be read and written while the tensor cores
/// wait.
constexpr std::size_t most_local_bytes = 64;

constexpr int finishing_threads = 64;

struct Kernels {
  cudaKernel_t kernel = nullptr;
  cudaKernel_t finish = nullptr;
  std::string refusal;
};

/// Never destroyed: the driver may be gone when statics are.
KernelCache<Kernels>& kernel_cache() {
  static auto* const cache = new KernelCache<Kernels>;
  return *cache;
}

std::string key_of(const HopperStageKernel& kernel, const Stage& stage) {
  std::string key;
  key.reserve(1024);  // an execution pays for what is allocated here
  append_to_key(key, static_cast<int>(kernel.format));
  append_to_key(key, kernel.columns);
  append_to_key(key, static_cast<int>(kernel.sweep));
  append_to_key(key, kernel.y);
  append_code_key(key, stage);
  return key;
}

const char* sweep_text(SweepKind sweep) {
  switch (sweep) {
    case SweepKind::pointwise:
      return "PointwiseSweep<Code>";
    case SweepKind::inner_reduction:
      return "InnerSweep<Code>";
    case SweepKind::outer_reduction:
      return "OuterSweep<Code>";
  }
  return "";
}

std::string finish_text(SweepKind sweep) {
  const std::string head =
      "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(finishing_threads) +
      ") finish(\n"
      "    const __grid_constant__ HopperEpilogue epilogue, const __grid_constant__ Stage stage,\n"
      "    int tiles) {\n"
      "  wait_for_kernel_before();\n"
      "  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;\n";
  switch (sweep) {
    case SweepKind::pointwise:
      return "";
    case SweepKind::inner_reduction:
      return head +
             "  const std::int64_t line = i / warp_size;\n"
             "  if (line < stage.batch * stage.outer)\n"
             "    finish_inner_line<Code>(epilogue, stage, tiles, line);\n"
             "}\n";
    case SweepKind::outer_reduction:
      return head +
             "  const Partials partials{epilogue.partials, stage.batch, stage.inner};\n"
             "  if (i < stage.batch * stage.inner)\n"
             "    finish_outer_reduction<float, Code>(stage, partials, tiles, i / stage.inner,\n"
             "                                        i % stage.inner);\n"
             "}\n";
  }
  return "";
}

std::string program_text(const HopperStageKernel& kernel, const Stage& stage) {
  const std::string format =
      "HopperFormat(" + std::to_string(static_cast<int>(kernel.format)) + ")";
  const std::string columns = std::to_string(kernel.columns);
  return "#include \"gemm/hopper_stage_epilogue.cuh\"\n"
         "using namespace postlude;\n"
         "using namespace postlude::detail;\n" +
         code_text(stage) + "using Epilogue = StageEpilogue<" + sweep_text(kernel.sweep) + ", " +
         std::to_string(kernel.y) +
         ">;\n"
         "extern \"C\" __global__ void __launch_bounds__(Layout<" +
         format + ", " + columns +
         ", Epilogue::shared_bytes>::threads, 1) kernel(\n"
         "    const __grid_constant__ HopperParameters p,\n"
         "    const __grid_constant__ HopperEpilogue epilogue, const __grid_constant__ Stage "
         "stage) "
         "{\n"
         "  __shared__ StageMemory memory;\n"
         "  hopper_block<" +
         format + ", " + columns + ">(p, Epilogue{epilogue, stage, memory});\n}\n" +
         finish_text(kernel.sweep);
}

Kernels compile(const HopperStageKernel& kernel, const Stage& stage) {
  Kernels kernels;
  // The instructions that the kernel is made of are those of one architecture alone.
  cudaLibrary_t library = compile_program(program_text(kernel, stage), "sm_90a");
  kernels.kernel = kernel_of(library, "kernel");
  if (kernel.sweep != SweepKind::pointwise) kernels.finish = kernel_of(library, "finish");
  cudaFuncAttributes attributes;
  require_success(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels.kernel)),
                  "cudaFuncGetAttributes");
  if (attributes.localSizeBytes > most_local_bytes)
    kernels.refusal = "the stage needs " + std::to_string(attributes.localSizeBytes) +
                      " bytes a thread beyond the registers";
  return kernels;
}

/// Tiles whose states make one result.
std::int64_t tiles_of(const HopperStageKernel& kernel, const Stage& stage) {
  return kernel.sweep == SweepKind::inner_reduction ? quotient_up(stage.inner, hopper_rows)
                                                    : quotient_up(stage.outer, kernel.columns);
}

}  // namespace

std::string hopper_stage_refusal() { return ""; }

std::string compile_hopper_stage(const std::vector<HopperStageKernel>& kernels,
                                 const Stage& stage) {
  std::vector<std::string> refusals(kernels.size());
  compile_at_once(kernels.size(), [&](std::size_t i) {
    refusals[i] =
        kernel_cache()
            .find_or_compile(key_of(kernels[i], stage), [&] { return compile(kernels[i], stage); })
            .refusal;
  });
  for (const std::string& refusal : refusals)
    if (!refusal.empty()) return refusal;
  return "";
}

HopperStageFunctions find_hopper_stage(const HopperStageKernel& kernel, const Stage& stage) {
  const Kernels* const kernels = kernel_cache().find(key_of(kernel, stage));
  if (kernels == nullptr || !kernels->refusal.empty()) return {};
  return {reinterpret_cast<const void*>(kernels->kernel),
          reinterpret_cast<const void*>(kernels->finish)};
}

std::size_t hopper_partials_bytes(const HopperStageKernel& kernel, const Stage& stage) {
  if (kernel.sweep == SweepKind::pointwise) return 0;
  const std::int64_t results = kernel.sweep == SweepKind::inner_reduction
                                   ? stage.reduction_count * stage.batch * stage.outer
                                   : stage.batch * stage.inner;
  return static_cast<std::size_t>(results * tiles_of(kernel, stage)) * sizeof(ReductionState);
}

void finish_hopper_stage(const HopperStageFunctions& functions, const HopperStageKernel& kernel,
                         const HopperEpilogue& epilogue, const Stage& stage, cudaStream_t stream) {
  if (functions.finish == nullptr) return;
  constexpr std::int64_t warp = 32;
  const std::int64_t threads = kernel.sweep == SweepKind::inner_reduction
                                   ? stage.batch * stage.outer * warp
                                   : stage.batch * stage.inner;
  int tiles = static_cast<int>(tiles_of(kernel, stage));
  void* arguments[] = {const_cast<HopperEpilogue*>(&epilogue), const_cast<Stage*>(&stage), &tiles};
  require_success(launch_dependent(functions.finish, quotient_up(threads, finishing_threads),
                                   finishing_threads, 0, arguments, stream),
                  "launching the end of a stage");
}

}  // namespace detail
}  // namespace postlude
