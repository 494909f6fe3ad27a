#ifndef POSTLUDE_PERF_TIMING_HPP
#define POSTLUDE_PERF_TIMING_HPP

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace postlude {
namespace perf {

/// Median of the repeats and the half-width of the middle half, in seconds.
struct Timing {
  double median = 0;
  double spread = 0;
};

inline Timing summarize(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t count = seconds.size();
  return {seconds[count / 2], (seconds[count * 3 / 4] - seconds[count / 4]) / 2};
}

/// Times `work(space)`, warmed up. On a GPU the work is captured into a graph `inner` times and the
/// graph is replayed, so that launch overhead of the host does not hide in the numbers.
template <class Space, class Work>
Timing time_repeated(const Space& space, int repeats, int inner, const Work& work) {
  std::vector<double> seconds;
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same<Space, Kokkos::Cuda>::value) {
    for (int i = 0; i < 3; ++i) work();
    space.fence();
    cudaStream_t stream = space.cuda_stream();
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaEvent_t begin, end;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return {};
    for (int i = 0; i < inner; ++i) work();
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) return {};
    if (cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess) return {};
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int i = -2; i < repeats; ++i) {
      cudaEventRecord(begin, stream);
      cudaGraphLaunch(executable, stream);
      cudaEventRecord(end, stream);
      cudaEventSynchronize(end);
      float milliseconds = 0;
      cudaEventElapsedTime(&milliseconds, begin, end);
      if (i >= 0) seconds.push_back(milliseconds * 1e-3 / inner);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    return summarize(seconds);
  }
#endif
  for (int i = -2; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (int j = 0; j < inner; ++j) work();
    space.fence();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (i >= 0) seconds.push_back(taken.count() / inner);
  }
  return summarize(seconds);
}

}  // namespace perf
}  // namespace postlude

#endif
