#include "timing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>

#include "parallel_for.hpp"

namespace postlude {
namespace cli {
namespace {

double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Statistics statistics_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return Statistics{quantile(samples, 0.5), samples.front(), samples.back(),
                    quantile(samples, 0.25), quantile(samples, 0.75)};
}

double host_copy_bandwidth(unsigned threads) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  const std::unique_ptr<unsigned char[]> source(new unsigned char[bytes]);
  const std::unique_ptr<unsigned char[]> destination(new unsigned char[bytes]);
  // The threads that copy a part also touch it first.
  parallel_for(bytes, threads, [&](std::size_t begin, std::size_t end) {
    std::memset(source.get() + begin, 1, end - begin);
    std::memset(destination.get() + begin, 2, end - begin);
  });
  double best = 0;
  for (int pass = 0; pass < 5; ++pass) {
    const double seconds = seconds_of([&] {
      parallel_for(bytes, threads, [&](std::size_t begin, std::size_t end) {
        std::memcpy(destination.get() + begin, source.get() + begin, end - begin);
      });
    });
    best = std::max(best, 2.0 * static_cast<double>(bytes) / seconds);
  }
  return best;
}

}  // namespace cli
}  // namespace postlude
