#ifndef POSTLUDE_GEMM_THREAD_ITEMS_HPP
#define POSTLUDE_GEMM_THREAD_ITEMS_HPP

#include <cstdint>
#include <functional>

#include <postlude/execution_space.hpp>

namespace postlude {
namespace detail {

/// Work that one of OpenMP's threads does alone: thread 0, 1, ... below their number. Must not
/// throw.
using ThreadWork = std::function<void(std::int64_t thread, std::int64_t item)>;

/// Threads of a host's instance.
std::int64_t thread_count(const ExecutionSpace& space);

/// Calls `work` for each item from 0 to `items`, on at most so many of OpenMP's threads, which are
/// those of Kokkos and of the BLAS; a thread takes the next item when it has done one. Complete on
/// return.
///
/// A parallel region of its own, since Kokkos would run a loop of another thread than the one that
/// initialised it serially, outside a region: there every thread's BLAS call would start threads.
void for_each_on_threads(std::int64_t threads, std::int64_t items, const ThreadWork& work);

}  // namespace detail
}  // namespace postlude

#endif
