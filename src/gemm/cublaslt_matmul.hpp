#ifndef POSTLUDE_GEMM_CUBLASLT_MATMUL_HPP
#define POSTLUDE_GEMM_CUBLASLT_MATMUL_HPP

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace postlude {
namespace detail {

/// A factor or the result of a product as cuBLASLt sees it: column-major in memory.
struct MatmulMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading_dimension = 0;
  std::int64_t batch_stride = 0;
  bool transpose = false;  ///< of a factor: op(matrix) is its transpose
};

/// d = epilogue(alpha op(a) op(b) + beta d), with a and b of one type, computed in float32.
struct MatmulShape {
  cudaDataType_t factor_type = CUDA_R_32F;
  cudaDataType_t result_type = CUDA_R_32F;  ///< of d, and of a bias along d's columns
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  int batch = 1;
  MatmulMatrix a;
  MatmulMatrix b;
  MatmulMatrix d;
};

/// Bytes that the addresses of one product are multiples of.
struct MatmulAlignment {
  std::uint32_t a = 256;
  std::uint32_t b = 256;
  std::uint32_t d = 256;
};

/// The alignment of an address, at most 256.
std::uint32_t alignment_of(const void* address);

/// The library's handle for a CUDA device, made when it is first asked for and kept for the
/// process. Threads: safe, and so is the handle.
cublasLtHandle_t cublaslt_handle(int device);

/// Workspace that a product may use: what NVIDIA recommends for Hopper.
constexpr std::size_t most_matmul_workspace = std::size_t(32) << 20;

/// An algorithm as 128 hexadecimal digits. By the library's word it can be kept so, and used with
/// the same version of the library: cublaslt_version() says which.
std::string text_of(const cublasLtMatmulAlgo_t& algorithm);
/// The same backwards; false for other text.
bool parse_algorithm(const std::string& text, cublasLtMatmulAlgo_t& algorithm);

/// The library and the kind of device on which an algorithm runs, for example
/// "cublasLt-130100-sm_90".
std::string cublaslt_version(int device);

/// Descriptors of one product. Immutable, owns no memory outside itself.
class CublasLtMatmul {
 public:
  /// Throws Error(backend_failure).
  CublasLtMatmul(int device, const MatmulShape& shape);

  /// The library's proposals, best first; empty when it has none for this product.
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms(const MatmulAlignment& alignment,
                                                          std::size_t most_workspace,
                                                          int most) const;

  /// Whether the library runs this algorithm for the product, and the workspace that it wants;
  /// empty when not.
  std::vector<cublasLtMatmulHeuristicResult_t> check(const cublasLtMatmulAlgo_t& algorithm) const;

  /// Enqueues the product. Throws Error(backend_failure).
  void run(cudaStream_t stream, const cublasLtMatmulAlgo_t& algorithm, float alpha, const void* a,
           const void* b, float beta, void* d, void* workspace, std::size_t workspace_bytes,
           const void* bias = nullptr) const;

 private:
  cublasLtHandle_t handle_;
  // The library takes pointers to what it does not change, but not as constants.
  mutable cublasLtMatmulDescOpaque_t operation_;
  mutable cublasLtMatrixLayoutOpaque_t a_;
  mutable cublasLtMatrixLayoutOpaque_t b_;
  mutable cublasLtMatrixLayoutOpaque_t d_;
};

}  // namespace detail
}  // namespace postlude

#endif
