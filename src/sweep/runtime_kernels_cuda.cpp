#include <cuda_runtime_api.h>
#include <nvrtc.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <postlude/error.hpp>

#include "compat/with_instance.hpp"
#include "sweep/embedded_sources.hpp"
#include "sweep/grid.hpp"
#include "sweep/outer_reduction.hpp"
#include "sweep/pointwise.hpp"
#include "sweep/runtime_kernels.hpp"

namespace postlude {
namespace detail {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

template <class Enumeration>
std::string enumerator(const char* type, Enumeration value) {
  return std::string(type) + "(" + number(static_cast<std::int64_t>(value)) + ")";
}

std::string source_text(const Source& source) {
  return "Source(" + enumerator("SourceKind", source.kind()) + ", " + number(source.index()) + ")";
}

std::string instruction_text(const Instruction& instruction) {
  return "Instruction{" + enumerator("Action", instruction.action) + ", " +
         enumerator("Operation", instruction.operation) + ", " + number(instruction.slot) + ", " +
         number(instruction.target) + ", {" + source_text(instruction.sources[0]) + ", " +
         source_text(instruction.sources[1]) + ", " + source_text(instruction.sources[2]) + "}}";
}

/// "i == 0 ? a : i == 1 ? b : c": a table that folds away.
std::string choice(const std::vector<std::string>& entries) {
  std::string text;
  for (std::size_t i = 0; i + 1 < entries.size(); ++i)
    text += "i == " + number(static_cast<std::int64_t>(i)) + " ? " + entries[i] + " : ";
  return text + entries.back();
}

bool is_shared(const OperandAccess& access) {
  return access.outer_divisor != 1 || access.inner_divisor != 1;
}

int operand_count(const Stage& stage) {
  int count = 0;
  for (int i = 0; i < stage.instruction_count; ++i) {
    const Instruction& instruction = stage.instructions[i];
    for (const Source& source : instruction.sources)
      if (source.kind() == SourceKind::operand) count = std::max(count, source.index() + 1);
    if (instruction.action == Action::store) count = std::max(count, instruction.target + 1);
  }
  for (int i = 0; i < stage.reduction_count; ++i)
    count = std::max(count, stage.reductions[i].output + 1);
  return count;
}

/// The stage's instructions as a Code.
std::string code_text(const Stage& stage) {
  std::vector<std::string> instructions;
  for (int i = 0; i < stage.instruction_count; ++i)
    instructions.push_back(instruction_text(stage.instructions[i]));
  std::vector<std::string> kinds;
  for (int i = 0; i < maximum_reductions; ++i)
    kinds.push_back(enumerator("Reduction", stage.reductions[i].kind));
  std::vector<std::string> dtypes;
  for (int i = 0; i < operand_count(stage); ++i)
    dtypes.push_back(enumerator("DataType", stage.operands[i].dtype));
  std::vector<std::string> shared;
  for (int i = 0; i < operand_count(stage); ++i)
    shared.push_back(is_shared(stage.operands[i]) ? "true" : "false");
  return "struct Code {\n"
         "  static constexpr bool is_static = true;\n"
         "  static constexpr std::size_t instruction_count = " +
         number(stage.instruction_count) +
         ";\n"
         "  static constexpr Instruction at(std::size_t i) { return " +
         choice(instructions) +
         "; }\n"
         "  template <std::size_t index>\n"
         "  static constexpr Instruction instruction() { return at(index); }\n"
         "  static constexpr int reductions(const Stage&) { return " +
         number(stage.reduction_count) +
         "; }\n"
         "  static constexpr Reduction kind(const Stage&, int i) { return " +
         choice(kinds) +
         "; }\n"
         "  static constexpr DataType dtype(int i) { return " +
         choice(dtypes) +
         "; }\n"
         "  static constexpr bool is_shared(int i) { return " +
         choice(shared) + "; }\n};\n";
}

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
         number(packets_of(kind, stage, compute)) + ";\n" + code_text(stage) + kernel_text(kind);
}

[[noreturn]] void fail(const std::string& what, const std::string& detail) {
  throw Error(Status::backend_failure, "compiling a stage at run time: " + what + ": " + detail);
}

void require(nvrtcResult result, const std::string& what) {
  if (result != NVRTC_SUCCESS) fail(what, nvrtcGetErrorString(result));
}

void require(cudaError_t result, const std::string& what) {
  if (result != cudaSuccess) fail(what, cudaGetErrorString(result));
}

class Compilation {
 public:
  explicit Compilation(const std::string& text) {
    std::vector<const char*> contents;
    std::vector<const char*> names;
    for (const EmbeddedSource& source : embedded_sources()) {
      contents.push_back(source.content);
      names.push_back(source.name);
    }
    require(nvrtcCreateProgram(&program_, text.c_str(), "postlude_stage.cu",
                               static_cast<int>(names.size()), contents.data(), names.data()),
            "creating the program");
  }
  ~Compilation() { nvrtcDestroyProgram(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  std::vector<char> cubin(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    const char* options[] = {target.c_str(), "--std=c++17", "-default-device"};
    if (nvrtcCompileProgram(program_, 3, options) != NVRTC_SUCCESS) fail("NVRTC", log());
    std::size_t size = 0;
    require(nvrtcGetCUBINSize(program_, &size), "the size of the code");
    std::vector<char> code(size);
    require(nvrtcGetCUBIN(program_, code.data()), "the code");
    return code;
  }

 private:
  std::string log() {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program_, &size);
    std::string text(size, '\0');
    if (size > 0) nvrtcGetProgramLog(program_, &text[0]);
    return text.substr(0, 2000);
  }

  nvrtcProgram program_ = nullptr;
};

struct CompiledKernels {
  cudaKernel_t kernel = nullptr;
  cudaKernel_t finish = nullptr;  ///< of an outer reduction
};

/// Everything that the text of a kernel depends on.
std::string key_of(SweepKind kind, const Stage& stage, DataType compute) {
  std::string key;
  key.reserve(1024);  // an execution pays for what is allocated here
  const auto add = [&](std::int64_t value) {
    key.append(reinterpret_cast<const char*>(&value), 2);
  };
  add(static_cast<int>(kind));
  add(static_cast<int>(compute));
  add(packets_of(kind, stage, compute));
  add(stage.instruction_count);
  key.append(reinterpret_cast<const char*>(stage.instructions),
             sizeof(Instruction) * static_cast<std::size_t>(stage.instruction_count));
  add(stage.reduction_count);
  for (int i = 0; i < maximum_reductions; ++i) add(static_cast<int>(stage.reductions[i].kind));
  for (int i = 0; i < operand_count(stage); ++i) {
    add(static_cast<int>(stage.operands[i].dtype));
    add(is_shared(stage.operands[i]) ? 1 : 0);
  }
  return key;
}

/// Kernels by what they do. Never destroyed: the driver may be gone when statics are.
class KernelCache {
 public:
  static KernelCache& instance() {
    static KernelCache* cache = new KernelCache;
    return *cache;
  }

  const CompiledKernels* find(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = kernels_.find(key);
    return entry == kernels_.end() ? nullptr : &entry->second;
  }

  void compile(const std::string& key, SweepKind kind, const Stage& stage, DataType compute) {
    const std::lock_guard<std::mutex> compiling(compilation_mutex_);
    if (find(key) != nullptr) return;
    int device = 0;
    int major = 0;
    int minor = 0;
    require(cudaGetDevice(&device), "the current device");
    require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
            "its capability");
    require(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
            "its capability");
    Compilation compilation(program_text(kind, stage, compute));
    const std::vector<char> code = compilation.cubin("sm_" + number(major) + number(minor));
    cudaLibrary_t library = nullptr;
    require(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            "loading the code");
    CompiledKernels kernels;
    require(cudaLibraryGetKernel(&kernels.kernel, library, "kernel"), "finding the kernel");
    if (kind == SweepKind::outer_reduction)
      require(cudaLibraryGetKernel(&kernels.finish, library, "finish"), "finding the kernel");
    const std::lock_guard<std::mutex> lock(mutex_);
    kernels_.emplace(key, kernels);
  }

 private:
  std::mutex mutex_;
  std::mutex compilation_mutex_;
  std::map<std::string, CompiledKernels> kernels_;
};

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

void compile_stage(Backend backend, SweepKind kind, const Stage& stage, DataType compute) {
  if (backend != Backend::cuda) return;
  KernelCache::instance().compile(key_of(kind, stage, compute), kind, stage, compute);
}

bool run_compiled_stage(const ExecutionSpace& space, SweepKind kind, const Stage& stage,
                        DataType compute, ReductionState* partials) {
  if (space.backend() != Backend::cuda) return false;
  const CompiledKernels* kernels = KernelCache::instance().find(key_of(kind, stage, compute));
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
