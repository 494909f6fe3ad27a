#ifndef POSTLUDE_PERF_STATISTICS_HPP
#define POSTLUDE_PERF_STATISTICS_HPP

#include <algorithm>
#include <cmath>
#include <vector>

namespace postlude {
namespace perf {

/// What is told of repeated measurements, in seconds. `mad` is the median of |sample - median|.
struct Statistics {
  double median = 0;
  double minimum = 0;
  double maximum = 0;
  double mad = 0;
};

inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Of at least one sample.
inline Statistics statistics_of(const std::vector<double>& samples) {
  Statistics result;
  result.median = median_of(samples);
  result.minimum = *std::min_element(samples.begin(), samples.end());
  result.maximum = *std::max_element(samples.begin(), samples.end());
  std::vector<double> distances;
  for (const double sample : samples) distances.push_back(std::abs(sample - result.median));
  result.mad = median_of(distances);
  return result;
}

}  // namespace perf
}  // namespace postlude

#endif
