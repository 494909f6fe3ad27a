#include <cuda_runtime_api.h>

#include <string>

#include <postlude/error.hpp>

#include "compat/with_instance.hpp"
#include "compilation/compile_at_once.hpp"
#include "compilation/kernel_cache.hpp"
#include "compilation/runtime_program.hpp"
#include "compilation/stage_code.hpp"
#include "sweep/grid.hpp"
#include "sweep/outer_reduction.hpp"
#include "sweep/pointwise.hpp"
#include "sweep/runtime_kernels.hpp"

namespace postlude {
namespace detail {
namespace {

const char* kernel_text(SweepKind kind) {
  switch (kind) {
    case SweepKind::pointwise:
      return "extern \"C\" __global__ void __launch_bounds__(256) kernel(\n"
             "    const __grid_constant__ Stage stage, std::int64_t first, std::int64_t segments) "
             "{\n"
             "  pointwise_thread<T, packets, Code>(stage, segments,\n"
             "      (first + blockIdx.x) * blockDim.x + threadIdx.x);\n"
             "}\n";
    case SweepKind::inner_reduction:
      return "extern \"C\" __global__ void __launch_bounds__(team_threads) kernel(\n"
             "    const __grid_constant__ Stage stage, std::int64_t first) {\n"
             "  __shared__ alignas(16) unsigned char memory[team_threads * "
             "sizeof(ReductionState)];\n"
             "  inner_reduction_thread<T, packets, Code>(stage, first + blockIdx.x, threadIdx.x,\n"
             "      reinterpret_cast<ReductionState*>(memory), [] { __syncthreads(); });\n"
             "}\n";
    case SweepKind::outer_reduction:
      return "extern \"C\" __global__ void __launch_bounds__(team_threads) kernel(\n"
             "    const __grid_constant__ Stage stage, std::int64_t first, Partials partials,\n"
             "    OuterCut cut) {\n"
             "  __shared__ alignas(16) unsigned char memory[\n"
             "      outer_thread_rows * outer_tile<T>() * sizeof(ReductionState)];\n"
             "  outer_reduction_thread<T, Code>(stage, partials, cut, first + blockIdx.x, "
             "threadIdx.x,\n"
             "      reinterpret_cast<ReductionState*>(memory), [] { __syncthreads(); });\n"
             "}\n"
             "extern \"C\" __global__ void __launch_bounds__(64) finish(\n"
             "    const __grid_constant__ Stage stage, std::int64_t first, Partials partials,\n"
             "    OuterCut cut) {\n"
             "  const std::int64_t i = (first + blockIdx.x) * blockDim.x + threadIdx.x;\n"
             "  if (i >= stage.batch * stage.inner) return;\n"
             "  finish_outer_reduction<T, Code>(stage, partials, cut.chunks, i / stage.inner,\n"
             "                                  i % stage.inner);\n"
             "}\n";
  }
  return "";
}

template <class T>
int packets_of(SweepKind kind, const Stage& stage) {
  if (kind == SweepKind::pointwise) return pointwise_packets<T>(stage);
  // A line of one packet, such as a window of a pooling, has no use for the others.
  const bool is_short = stage.inner <= device_width<T>() && kind == SweepKind::inner_reduction;
  return is_short ? 1 : reduction_packets;
}

int packets_of(SweepKind kind, const Stage& stage, DataType compute) {
  return compute == DataType::float64 ? packets_of<double>(kind, stage)
                                      : packets_of<float>(kind, stage);
}

std::string program_text(SweepKind kind, const Stage& stage, DataType compute) {
  return "#include \"sweep/device_body.hpp\"\n"
         "using namespace postlude;\n"
         "using namespace postlude::detail;\n"
         "using T = " +
         std::string(compute == DataType::float64 ? "double" : "float") +
         ";\n"
         "constexpr int packets = " +
         std::to_string(packets_of(kind, stage, compute)) + ";\n" + code_text(stage) +
         kernel_text(kind);
}

struct CompiledKernels {
  cudaKernel_t kernel = nullptr;
  cudaKernel_t finish = nullptr;  ///< of an outer reduction
};

/// Everything that the text of a kernel depends on.
std::string key_of(SweepKind kind, const Stage& stage, DataType compute) {
  std::string key;
  key.reserve(1024);  // an execution pays for what is allocated here
  append_to_key(key, static_cast<int>(kind));
  append_to_key(key, static_cast<int>(compute));
  append_to_key(key, packets_of(kind, stage, compute));
  append_code_key(key, stage);
  return key;
}

/// Never destroyed: the driver may be gone when statics are.
KernelCache<CompiledKernels>& kernel_cache() {
  static auto* const cache = new KernelCache<CompiledKernels>;
  return *cache;
}

CompiledKernels compile(SweepKind kind, const Stage& stage, DataType compute) {
  cudaLibrary_t library =
      compile_program(program_text(kind, stage, compute), architecture_of_device());
  CompiledKernels kernels;
  kernels.kernel = kernel_of(library, "kernel");
  if (kind == SweepKind::outer_reduction) kernels.finish = kernel_of(library, "finish");
  return kernels;
}

/// Every kernel takes the stage, the first block of a launch, and these.
template <class... Others>
void launch(cudaKernel_t kernel, std::int64_t all_blocks, int threads, cudaStream_t stream,
            const Stage& stage, Others... others) {
  launch_in_parts(all_blocks, [&](std::int64_t first, std::int64_t blocks) {
    void* arguments[] = {const_cast<Stage*>(&stage), &first, &others...};
    const cudaError_t result =
        cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(blocks)),
                         dim3(static_cast<unsigned>(threads)), arguments, 0, stream);
    if (result != cudaSuccess)
      throw Error(Status::backend_failure,
                  std::string("launching a stage: ") + cudaGetErrorString(result));
  });
}

void launch_pointwise(const CompiledKernels& kernels, const Stage& stage, DataType compute,
                      cudaStream_t stream) {
  const int packets = packets_of(SweepKind::pointwise, stage, compute);
  const std::int64_t segments = compute == DataType::float64
                                    ? pointwise_segments<double>(stage, packets)
                                    : pointwise_segments<float>(stage, packets);
  constexpr int threads = 256;
  const std::int64_t items = stage.batch * stage.outer * segments * warp_threads;
  launch(kernels.kernel, (items + threads - 1) / threads, threads, stream, stage, segments);
}

void launch_inner_reduction(const CompiledKernels& kernels, const Stage& stage, DataType compute,
                            cudaStream_t stream) {
  const std::int64_t teams =
      compute == DataType::float64 ? line_teams<double>(stage) : line_teams<float>(stage);
  launch(kernels.kernel, teams, team_threads, stream, stage);
}

void launch_outer_reduction(const CompiledKernels& kernels, const Stage& stage, DataType compute,
                            ReductionState* states, cudaStream_t stream) {
  const Partials partials{states, stage.batch, stage.inner};
  const OuterCut cut =
      outer_cut(stage, compute == DataType::float64 ? outer_tile<double>() : outer_tile<float>());
  launch(kernels.kernel, stage.batch * cut.chunks * cut.tiles, team_threads, stream, stage,
         partials, cut);
  constexpr int threads = 64;
  launch(kernels.finish, (stage.batch * stage.inner + threads - 1) / threads, threads, stream,
         stage, partials, cut);
}

}  // namespace

std::string runtime_compilation_refusal(Backend backend) {
  return backend == Backend::cuda ? "" : "stages are compiled at run time on CUDA only";
}

void compile_stages(Backend backend, const std::vector<SweptStage>& stages, DataType compute) {
  if (backend != Backend::cuda) return;
  compile_at_once(stages.size(), [&](std::size_t i) {
    const SweptStage& each = stages[i];
    kernel_cache().find_or_compile(key_of(each.kind, each.stage, compute),
                                   [&] { return compile(each.kind, each.stage, compute); });
  });
}

bool run_compiled_stage(const ExecutionSpace& space, SweepKind kind, const Stage& stage,
                        DataType compute, ReductionState* partials) {
  if (space.backend() != Backend::cuda) return false;
  const CompiledKernels* kernels = kernel_cache().find(key_of(kind, stage, compute));
  if (kernels == nullptr) return false;
  if (stage.batch * (kind == SweepKind::outer_reduction ? 1 : stage.outer) *
          (kind == SweepKind::inner_reduction ? 1 : stage.inner) ==
      0)
    return true;
  const cudaStream_t stream = space.get<Kokkos::Cuda>().cuda_stream();
  switch (kind) {
    case SweepKind::pointwise:
      launch_pointwise(*kernels, stage, compute, stream);
      break;
    case SweepKind::inner_reduction:
      launch_inner_reduction(*kernels, stage, compute, stream);
      break;
    case SweepKind::outer_reduction:
      launch_outer_reduction(*kernels, stage, compute, partials, stream);
      break;
  }
  return true;
}

}  // namespace detail
}  // namespace postlude
