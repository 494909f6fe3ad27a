#ifndef POSTLUDE_GEMM_ONEDNN_HPP
#define POSTLUDE_GEMM_ONEDNN_HPP

#include "gemm/engine.hpp"

namespace postlude {
namespace detail {

/// oneDNN's matmul on a host: strict float32, on OpenMP's threads or, for Serial, on one. x, w and
/// y with a unit stride; first choice on processors where it is known to be faster than a BLAS.
const Engine& onednn_engine();

}  // namespace detail
}  // namespace postlude

#endif
