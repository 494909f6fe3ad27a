#include "gemm/cublaslt_matmul.hpp"

#include <cstdio>
#include <map>
#include <mutex>

#include "gemm/cuda_status.hpp"

namespace postlude {
namespace detail {
namespace {

template <class Value>
void set(cublasLtMatmulDescOpaque_t& operation, cublasLtMatmulDescAttributes_t attribute,
         const Value& value) {
  require_success(cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof value),
                  "cublasLtMatmulDescSetAttribute");
}

template <class Value>
void set(cublasLtMatrixLayoutOpaque_t& layout, cublasLtMatrixLayoutAttribute_t attribute,
         const Value& value) {
  require_success(cublasLtMatrixLayoutSetAttribute(&layout, attribute, &value, sizeof value),
                  "cublasLtMatrixLayoutSetAttribute");
}

template <class Value>
void set(cublasLtMatmulPreferenceOpaque_t& preference,
         cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
  require_success(
      cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value),
      "cublasLtMatmulPreferenceSetAttribute");
}

void describe(cublasLtMatrixLayoutOpaque_t& layout, cudaDataType_t type, const MatmulMatrix& matrix,
              int batch) {
  require_success(cublasLtMatrixLayoutInit(&layout, type, static_cast<std::uint64_t>(matrix.rows),
                                           static_cast<std::uint64_t>(matrix.columns),
                                           matrix.leading_dimension),
                  "cublasLtMatrixLayoutInit");
  if (batch == 1) return;
  set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
  set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batch_stride);
}

}  // namespace

std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address) | 256;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

std::string text_of(const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  for (const std::uint64_t word : algorithm.data) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(word));
    text += digits;
  }
  return text;
}

bool parse_algorithm(const std::string& text, cublasLtMatmulAlgo_t& algorithm) {
  constexpr std::size_t digits = 16;
  constexpr std::size_t words = sizeof algorithm.data / sizeof algorithm.data[0];
  if (text.size() != words * digits ||
      text.find_first_not_of("0123456789abcdef") != std::string::npos)
    return false;
  for (std::size_t i = 0; i < words; ++i)
    algorithm.data[i] = std::stoull(text.substr(i * digits, digits), nullptr, 16);
  return true;
}

std::string cublaslt_version(int device) {
  int major = 0;
  int minor = 0;
  require_success(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                  "cudaDeviceGetAttribute");
  require_success(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
                  "cudaDeviceGetAttribute");
  return "cublasLt-" + std::to_string(cublasLtGetVersion()) + "-sm_" + std::to_string(major) +
         std::to_string(minor);
}

cublasLtHandle_t cublaslt_handle(int device) {
  static std::mutex mutex;
  // Never destroyed: the driver may be gone when statics are.
  static auto* handles = new std::map<int, cublasLtHandle_t>;
  const std::lock_guard<std::mutex> lock(mutex);
  cublasLtHandle_t& handle = (*handles)[device];
  if (handle == nullptr) require_success(cublasLtCreate(&handle), "cublasLtCreate");
  return handle;
}

CublasLtMatmul::CublasLtMatmul(int device, const MatmulShape& shape)
    : handle_(cublaslt_handle(device)) {
  require_success(cublasLtMatmulDescInit(&operation_, shape.compute, CUDA_R_32F),
                  "cublasLtMatmulDescInit");
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSA,
      static_cast<std::int32_t>(shape.a.transpose ? CUBLAS_OP_T : CUBLAS_OP_N));
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSB,
      static_cast<std::int32_t>(shape.b.transpose ? CUBLAS_OP_T : CUBLAS_OP_N));
  describe(a_, shape.factor_type, shape.a, shape.batch);
  describe(b_, shape.factor_type, shape.b, shape.batch);
  describe(d_, shape.result_type, shape.d, shape.batch);
  if (shape.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, shape.epilogue);
}

std::vector<cublasLtMatmulHeuristicResult_t> CublasLtMatmul::algorithms(
    const MatmulAlignment& alignment, std::size_t most_workspace, int most) const {
  cublasLtMatmulPreferenceOpaque_t preference;
  require_success(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
      static_cast<std::uint64_t>(most_workspace));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment.a);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment.b);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment.d);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment.d);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_, &operation_, &a_, &b_, &d_, &d_, &preference, most, results.data(), &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)
    found = 0;
  else
    require_success(status, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<cublasLtMatmulHeuristicResult_t> usable;
  for (int i = 0; i < found; ++i)
    if (results[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
      usable.push_back(results[static_cast<std::size_t>(i)]);
  return usable;
}

std::vector<cublasLtMatmulHeuristicResult_t> CublasLtMatmul::check(
    const cublasLtMatmulAlgo_t& algorithm) const {
  cublasLtMatmulHeuristicResult_t result = {};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(handle_, &operation_, &a_, &b_, &d_, &d_, &algorithm, &result);
  if (status != CUBLAS_STATUS_SUCCESS) return {};
  result.algo = algorithm;
  return {result};
}

void CublasLtMatmul::run(cudaStream_t stream, const cublasLtMatmulAlgo_t& algorithm, float alpha,
                         const void* a, const void* b, float beta, void* d, void* workspace,
                         std::size_t workspace_bytes, const void* bias) const {
  const auto multiply = [&](cublasLtMatmulDescOpaque_t& operation) {
    require_success(cublasLtMatmul(handle_, &operation, &alpha, a, &a_, b, &b_, &beta, d, &d_, d,
                                   &d_, &algorithm, workspace, workspace_bytes, stream),
                    "cublasLtMatmul");
  };
  if (bias == nullptr) return multiply(operation_);
  // The address belongs to the description, which other threads use at the same time.
  cublasLtMatmulDescOpaque_t operation = operation_;
  set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  multiply(operation);
}

}  // namespace detail
}  // namespace postlude
