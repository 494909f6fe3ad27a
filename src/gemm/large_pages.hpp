#ifndef POSTLUDE_GEMM_LARGE_PAGES_HPP
#define POSTLUDE_GEMM_LARGE_PAGES_HPP

#include <cstddef>

namespace postlude {
namespace detail {

/// Bytes of the larger pages of x86-64, and of most other processors.
constexpr std::size_t large_page = std::size_t(2) << 20;

/// Asks the system for large pages for memory of a host that has not been touched, where it has
/// some for whoever asks: GEMMs walk through many rows at once, and each small page is an entry of
/// its own in the processor's tables of addresses. `begin` and `bytes` are multiples of large_page.
/// Where the system does not follow, pages are small.
void ask_for_large_pages(void* begin, std::size_t bytes);

}  // namespace detail
}  // namespace postlude

#endif
