#ifndef POSTLUDE_PERF_SAMPLER_HPP
#define POSTLUDE_PERF_SAMPLER_HPP

#include <postlude/execution_space.hpp>

#include <functional>
#include <vector>

namespace postlude {
namespace perf {

/// Work on one of several copies of the data, enqueued on the instance that is measured.
using Work = std::function<void(int copy)>;

struct Samples {
  std::vector<double> seconds;  ///< of one execution, averaged over those of a sample
  int executions_per_sample = 1;
  bool is_in_turns = false;  ///< with those of other peers
};

/// Times `work`, warmed up. The copies are taken in turn, so that an execution finds in the caches
/// what the execution before left there, and none of its own data.
///
/// A sample takes `sample_seconds` or one execution, whichever is longer. On CUDA the executions of
/// a sample are captured into a graph and the graph is replayed: the host's launches do not hide in
/// the numbers. Throws std::runtime_error when CUDA cannot capture or replay the work.
Samples sample(const ExecutionSpace& space, int copies, int repeats, double sample_seconds,
               const Work& work);

/// Times several works of a host, a sample of each in turn, so that what slows the machine down for
/// a while slows down all of them: the samples of one index were taken together.
std::vector<Samples> sample_in_turns(const ExecutionSpace& space, int copies, int repeats,
                                     double sample_seconds, const std::vector<Work>& works);

}  // namespace perf
}  // namespace postlude

#endif
