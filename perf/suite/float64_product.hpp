#ifndef POSTLUDE_PERF_FLOAT64_PRODUCT_HPP
#define POSTLUDE_PERF_FLOAT64_PRODUCT_HPP

#include <postlude/execution_space.hpp>
#include <postlude/tensor.hpp>

#include "reference/reference.hpp"

namespace postlude {
namespace perf {

/// x w^T of two row-major matrices in CUDA's memory, in float64 by the vendor's GEMM, in host
/// memory. A build without CUDA throws std::logic_error.
detail::reference::Array cuda_float64_product(const ExecutionSpace& space, const Tensor& x,
                                              const Tensor& w);

}  // namespace perf
}  // namespace postlude

#endif
