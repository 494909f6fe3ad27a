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

/// Columns of a tile that a result is made of.
int window_in_tile(const HopperTileStage& stage) {
  return stage.window > 0 && stage.window < hopper_rows ? static_cast<int>(stage.window)
                                                        : hopper_rows;
}

std::string key_of(const HopperStageKernel& kernel, const HopperStages& stages) {
  std::string key;
  key.reserve(static_cast<std::size_t>(kernel.count) * 1024);  // an execution pays for it
  append_to_key(key, static_cast<int>(kernel.format));
  append_to_key(key, kernel.columns);
  for (int i = 0; i < kernel.count; ++i) {
    const HopperTileStage& each = kernel.stages[i];
    append_to_key(key, static_cast<int>(each.sweep));
    append_to_key(key, each.y);
    append_to_key(key, window_in_tile(each));
    append_to_key(key, each.window > 0);
    append_to_key(key, each.has_partials());
    append_code_key(key, *stages[static_cast<std::size_t>(i)]);
  }
  return key;
}

std::string bool_text(bool value) { return value ? "true" : "false"; }

/// Of a stage's Code.
std::string namespace_of(int stage) { return "stage_" + std::to_string(stage); }

std::string tile_stage_text(const HopperTileStage& stage, int index) {
  const std::string code = namespace_of(index) + "::Code";
  std::string sweep;
  switch (stage.sweep) {
    case SweepKind::pointwise:
      sweep = "PointwiseSweep<" + code + ">";
      break;
    case SweepKind::inner_reduction:
      sweep = "InnerSweep<" + code + ", " + std::to_string(window_in_tile(stage)) + ", " +
              bool_text(stage.window > 0) + ", " + bool_text(!stage.has_partials()) + ">";
      break;
    case SweepKind::outer_reduction:
      sweep = "OuterSweep<" + code + ">";
      break;
  }
  return "TileStage<" + sweep + ", " + std::to_string(stage.y) + ", " +
         bool_text(stage.window > 0) + ">";
}

std::string finish_text(const HopperTileStage& last, int index) {
  if (!last.has_partials()) return "";
  const std::string head =
      "using Code = " + namespace_of(index) +
      "::Code;\n"
      "extern \"C\" __global__ void __launch_bounds__(" +
      std::to_string(finishing_threads) +
      ") finish(\n"
      "    const __grid_constant__ HopperEpilogue epilogue, const __grid_constant__ Stage stage,\n"
      "    int tiles) {\n"
      "  wait_for_kernel_before();\n"
      "  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;\n";
  switch (last.sweep) {
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

std::string program_text(const HopperStageKernel& kernel, const HopperStages& stages) {
  const std::string format =
      "HopperFormat(" + std::to_string(static_cast<int>(kernel.format)) + ")";
  const std::string columns = std::to_string(kernel.columns);
  std::string codes;
  std::string types;
  std::string parameters;
  std::string addresses;
  for (int i = 0; i < kernel.count; ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    const std::string parameter = "given_" + std::to_string(i);
    codes += "namespace " + namespace_of(i) + " {\n" +
             code_text(*stages[static_cast<std::size_t>(i)]) + "}\n";
    types += comma + tile_stage_text(kernel.stages[i], i);
    parameters += ",\n    const __grid_constant__ Stage " + parameter;
    addresses += comma + "&" + parameter;
  }
  return "#include \"gemm/hopper_stage_epilogue.cuh\"\n"
         "using namespace postlude;\n"
         "using namespace postlude::detail;\n" +
         codes + "using Epilogue = StageEpilogue<" + types +
         ">;\n"
         "extern \"C\" __global__ void __launch_bounds__(Layout<" +
         format + ", " + columns +
         ", Epilogue::shared_bytes>::threads, 1) kernel(\n"
         "    const __grid_constant__ HopperParameters p,\n"
         "    const __grid_constant__ HopperEpilogue epilogue" +
         parameters +
         ") {\n"
         "  __shared__ Epilogue::Memory memory;\n"
         "  hopper_block<" +
         format + ", " + columns + ">(p, Epilogue{epilogue, {" + addresses + "}, memory});\n}\n" +
         finish_text(kernel.last(), kernel.count - 1);
}

Kernels compile(const HopperStageKernel& kernel, const HopperStages& stages) {
  Kernels kernels;
  // The instructions that the kernel is made of are those of one architecture alone.
  cudaLibrary_t library = compile_program(program_text(kernel, stages), "sm_90a");
  kernels.kernel = kernel_of(library, "kernel");
  if (kernel.last().has_partials()) kernels.finish = kernel_of(library, "finish");
  cudaFuncAttributes attributes;
  require_success(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels.kernel)),
                  "cudaFuncGetAttributes");
  if (attributes.localSizeBytes > most_local_bytes)
    kernels.refusal = (kernel.count == 1 ? "the stage needs " : "the stages need ") +
                      std::to_string(attributes.localSizeBytes) +
                      " bytes a thread beyond the registers";
  return kernels;
}

const Stage& last_of(const HopperStageKernel& kernel, const HopperStages& stages) {
  return *stages[static_cast<std::size_t>(kernel.count - 1)];
}

/// Tiles whose states make one result.
std::int64_t tiles_of(const HopperStageKernel& kernel, const Stage& stage) {
  return kernel.last().sweep == SweepKind::inner_reduction
             ? quotient_up(stage.inner, hopper_rows)
             : quotient_up(stage.outer, kernel.columns);
}

/// Results of a reduction that has partials.
std::int64_t results_of(const HopperStageKernel& kernel, const Stage& stage) {
  return stage.batch *
         (kernel.last().sweep == SweepKind::inner_reduction ? stage.outer : stage.inner);
}

}  // namespace

std::string hopper_stage_refusal() { return ""; }

std::string compile_hopper_stages(const std::vector<HopperStageKernel>& kernels,
                                  const HopperStages& stages) {
  std::vector<std::string> refusals(kernels.size());
  compile_at_once(kernels.size(), [&](std::size_t i) {
    refusals[i] = kernel_cache()
                      .find_or_compile(key_of(kernels[i], stages),
                                       [&] { return compile(kernels[i], stages); })
                      .refusal;
  });
  for (const std::string& refusal : refusals)
    if (!refusal.empty()) return refusal;
  return "";
}

HopperStageFunctions find_hopper_stages(const HopperStageKernel& kernel,
                                        const HopperStages& stages) {
  const Kernels* const kernels = kernel_cache().find(key_of(kernel, stages));
  if (kernels == nullptr || !kernels->refusal.empty()) return {};
  return {reinterpret_cast<const void*>(kernels->kernel),
          reinterpret_cast<const void*>(kernels->finish)};
}

std::size_t hopper_partials_bytes(const HopperStageKernel& kernel, const HopperStages& stages) {
  if (!kernel.last().has_partials()) return 0;
  const Stage& stage = last_of(kernel, stages);
  return static_cast<std::size_t>(results_of(kernel, stage) * stage.reduction_count *
                                  tiles_of(kernel, stage)) *
         sizeof(ReductionState);
}

void finish_hopper_stages(const HopperStageFunctions& functions, const HopperStageKernel& kernel,
                          const HopperEpilogue& epilogue, const HopperStages& stages,
                          cudaStream_t stream) {
  if (functions.finish == nullptr) return;
  constexpr std::int64_t warp = 32;
  const Stage& stage = last_of(kernel, stages);
  const std::int64_t threads =
      results_of(kernel, stage) * (kernel.last().sweep == SweepKind::inner_reduction ? warp : 1);
  int tiles = static_cast<int>(tiles_of(kernel, stage));
  void* arguments[] = {const_cast<HopperEpilogue*>(&epilogue), const_cast<Stage*>(&stage), &tiles};
  require_success(launch_dependent(functions.finish, quotient_up(threads, finishing_threads),
                                   finishing_threads, 0, arguments, stream),
                  "launching the end of a stage");
}

}  // namespace detail
}  // namespace postlude
