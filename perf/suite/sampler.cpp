#include "sampler.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

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

/// Work that is timed by the host's clock, one sample after another.
class HostSampler {
 public:
  /// Warms up, and finds how many executions a sample takes.
  HostSampler(const ExecutionSpace& space, int copies, double sample_seconds, Work work)
      : space_(space), copies_(copies), work_(std::move(work)) {
    seconds_for(2);
    const double once = std::min(seconds_for(1), seconds_for(1));
    executions_ = executions_for(once, sample_seconds, copies);
  }

  int executions() const { return executions_; }
  /// Of one execution.
  double next_sample() { return seconds_for(executions_) / executions_; }

 private:
  double seconds_for(int executions) {
    return seconds_of(space_, [&] {
      for (int i = 0; i < executions; ++i, next_ = (next_ + 1) % copies_) work_(next_);
    });
  }

  ExecutionSpace space_;
  int copies_;
  Work work_;
  int next_ = 0;
  int executions_ = 1;
};

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
  HostSampler sampler(space, copies, sample_seconds, work);
#ifdef KOKKOS_ENABLE_CUDA
  if (space.backend() == Backend::cuda)
    return sample_graphs(space.get<Kokkos::Cuda>(), sampler.executions(), copies, repeats, work);
#endif
  Samples samples;
  samples.executions_per_sample = sampler.executions();
  for (int i = 0; i < repeats; ++i) samples.seconds.push_back(sampler.next_sample());
  return samples;
}

std::vector<Samples> sample_in_turns(const ExecutionSpace& space, int copies, int repeats,
                                     double sample_seconds, const std::vector<Work>& works) {
  std::vector<HostSampler> samplers;
  std::vector<Samples> all;
  for (const Work& work : works) {
    samplers.emplace_back(space, copies, sample_seconds, work);
    all.push_back({{}, samplers.back().executions(), true});
  }
  for (int i = 0; i < repeats; ++i)
    for (std::size_t j = 0; j < works.size(); ++j)
      all[j].seconds.push_back(samplers[j].next_sample());
  return all;
}

}  // namespace perf
}  // namespace postlude
