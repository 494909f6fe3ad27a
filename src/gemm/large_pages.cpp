#include "gemm/large_pages.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace postlude {
namespace detail {

void ask_for_large_pages(void* begin, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Advice only: it may fail.
  (void)madvise(begin, bytes, MADV_HUGEPAGE);
#else
  (void)begin, (void)bytes;
#endif
}

}  // namespace detail
}  // namespace postlude
