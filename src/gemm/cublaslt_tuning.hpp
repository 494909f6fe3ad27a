#ifndef POSTLUDE_GEMM_CUBLASLT_TUNING_HPP
#define POSTLUDE_GEMM_CUBLASLT_TUNING_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gemm/cublaslt_matmul.hpp"
#include "gemm/kept_algorithms.hpp"

namespace postlude {
namespace detail {

/// Index of the fastest of `algorithms`, of which there is one at least, in medians of runs on
/// random numbers in memory that it allocates for the while: a, b, d and a workspace. Returns when
/// the device is done. Throws Error(backend_failure), for lack of memory too.
std::size_t fastest_algorithm(int device, const CublasLtMatmul& matmul, const MatmulShape& shape,
                              const std::vector<cublasLtMatmulHeuristicResult_t>& algorithms);

/// The algorithm of one of a GEMM's products: that of `name` in `kept` where there is one, else the
/// fastest of the library's proposals when `is_timed`, else the first one, or for short sums of a
/// small product the first that is one kernel; none where the library has none within `workspace`
/// bytes. Throws Error(invalid_argument) for a kept algorithm that the library does not run for
/// this product.
std::optional<cublasLtMatmulHeuristicResult_t> settle_algorithm(
    int device, const CublasLtMatmul& matmul, const MatmulShape& shape,
    const MatmulAlignment& alignment, std::size_t workspace, const std::string& name,
    const KeptAlgorithms& kept, bool is_timed);

}  // namespace detail
}  // namespace postlude

#endif
