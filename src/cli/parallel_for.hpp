#ifndef POSTLUDE_CLI_PARALLEL_FOR_HPP
#define POSTLUDE_CLI_PARALLEL_FOR_HPP

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace postlude {
namespace cli {

inline unsigned host_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Calls body(begin, end) on contiguous parts of [0, count), one for each of `threads` threads.
/// The body must not throw.
template <class Body>
void parallel_for(std::size_t count, unsigned threads, const Body& body) {
  const std::size_t part = count / threads + 1;
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < threads; ++i) {
    const std::size_t begin = std::min(count, i * part);
    const std::size_t end = std::min(count, begin + part);
    if (begin < end) workers.emplace_back([&body, begin, end] { body(begin, end); });
  }
  body(std::size_t{0}, std::min(count, part));
  for (std::thread& worker : workers) worker.join();
}

}  // namespace cli
}  // namespace postlude

#endif
