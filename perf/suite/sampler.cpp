#include "sampler.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "compat/with_instance.hpp"

namespace postlude {
namespace perf {
namespace {

void fence(const ExecutionSpace& space) {
  detail::with_instance(space, [](const auto& instance) { instance.fence(); });
}

double seconds_of(const ExecutionSpace& space, const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  fence(space);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Executions of a sample: enough for its length, and whole rounds of the copies where there is
/// more than one round.
int executions_for(double once, double sample_seconds, int copies) {
  constexpr double most = 2000;
  const int wanted =
      static_cast<int>(std::min(most, std::ceil(sample_seconds / std::max(once, 1e-9))));
  if (wanted <= copies) return std::max(wanted, 1);
  return (wanted + copies - 1) / copies * copies;
}

#ifdef KOKKOS_ENABLE_CUDA

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string(what) + " failed: " + cudaGetErrorString(status));
}

/// The executions of a sample as a CUDA graph. `first` is the copy that it begins with.
class Graph {
 public:
  Graph(cudaStream_t stream, int executions, int first, int copies, const Work& work)
      : stream_(stream) {
    cudaGraph_t graph = nullptr;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a CUDA capture");
    for (int i = 0; i < executions; ++i) work((first + i) % copies);
    require(cudaStreamEndCapture(stream, &graph), "a CUDA capture");
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    require(status, "instantiating a CUDA graph");
    require(cudaEventCreate(&begin_), "creating a CUDA event");
    require(cudaEventCreate(&end_), "creating a CUDA event");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaGraphExecDestroy(executable_);
  }

  double replay() const {
    require(cudaEventRecord(begin_, stream_), "recording a CUDA event");
    require(cudaGraphLaunch(executable_, stream_), "launching a CUDA graph");
    require(cudaEventRecord(end_, stream_), "recording a CUDA event");
    require(cudaEventSynchronize(end_), "running a CUDA graph");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading CUDA events");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

Samples sample_graphs(const Kokkos::Cuda& instance, int executions, int copies, int repeats,
                      const Work& work) {
  // When a sample has fewer executions than there are copies, the samples take the copies in turn.
  const int graphs = executions >= copies ? 1 : (copies + executions - 1) / executions;
  std::vector<std::unique_ptr<Graph>> list;
  for (int i = 0; i < graphs; ++i)
    list.push_back(std::make_unique<Graph>(instance.cuda_stream(), executions,
                                           i * executions % copies, copies, work));
  Samples samples;
  samples.executions_per_sample = executions;
  for (const auto& graph : list) graph->replay();
  for (int i = 0; i < repeats; ++i)
    samples.seconds.push_back(list[static_cast<std::size_t>(i % graphs)]->replay() / executions);
  return samples;
}

#endif

}  // namespace

Samples sample(const ExecutionSpace& space, int copies, int repeats, double sample_seconds,
               const Work& work) {
  int next = 0;
  const auto execute = [&](int executions) {
    for (int i = 0; i < executions; ++i, next = (next + 1) % copies) work(next);
  };
  seconds_of(space, [&] { execute(2); });
  const double once =
      std::min(seconds_of(space, [&] { execute(1); }), seconds_of(space, [&] { execute(1); }));
  const int executions = executions_for(once, sample_seconds, copies);
#ifdef KOKKOS_ENABLE_CUDA
  if (space.backend() == Backend::cuda)
    return sample_graphs(space.get<Kokkos::Cuda>(), executions, copies, repeats, work);
#endif
  Samples samples;
  samples.executions_per_sample = executions;
  for (int i = 0; i < repeats; ++i)
    samples.seconds.push_back(seconds_of(space, [&] { execute(executions); }) / executions);
  return samples;
}

}  // namespace perf
}  // namespace postlude
