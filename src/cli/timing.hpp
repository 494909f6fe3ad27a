#ifndef POSTLUDE_CLI_TIMING_HPP
#define POSTLUDE_CLI_TIMING_HPP

#include <chrono>
#include <vector>

namespace postlude {
namespace cli {

/// Seconds that `work` takes.
template <class Work>
double seconds_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What is told of repeated measurements.
struct Statistics {
  double median = 0;
  double minimum = 0;
  double maximum = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
};

/// Quantiles with linear interpolation, as NumPy's. At least one sample.
Statistics statistics_of(std::vector<double> samples);

/// Bytes per second, read and written ones together, of copying 256 MiB between two places of host
/// memory with `threads` threads: the best of some passes.
double host_copy_bandwidth(unsigned threads);

}  // namespace cli
}  // namespace postlude

#endif
