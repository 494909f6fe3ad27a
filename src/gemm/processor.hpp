#ifndef POSTLUDE_GEMM_PROCESSOR_HPP
#define POSTLUDE_GEMM_PROCESSOR_HPP

namespace postlude {
namespace detail {

/// Whether this process may use AVX-512: the processor has it, and the system saves its registers.
bool has_avx512();

/// Whether it runs on a processor of Intel's.
bool is_from_intel();

}  // namespace detail
}  // namespace postlude

#endif
