#include <Kokkos_Core.hpp>

#include <cublasLt.h>
#include <stdexcept>
#include <string>

#include "execute/memory.hpp"
#include "kokkos_unfused.hpp"

namespace postlude {
namespace perf {
namespace {

using unfused::Activation;
using unfused::LinearCall;

void require(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + " failed: " + cublasLtGetStatusString(status));
}

/// One linear layer of float, as cuBLASLt sees it: column-major y^T (n x m) = w x^T, where the bias
/// is a column.
class LinearLayer {
 public:
  LinearLayer(const ExecutionSpace& space, const Case& what, bool is_tf32)
      : stream_(space.get<Kokkos::Cuda>().cuda_stream()),
        compute_(is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F),
        workspace_(space, workspace_bytes) {
    require(cublasLtCreate(&handle_), "cublasLtCreate");
    const auto extent = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    require(cublasLtMatrixLayoutInit(&w_, CUDA_R_32F, extent(what.k), extent(what.n), what.k),
            "cublasLtMatrixLayoutInit");
    require(cublasLtMatrixLayoutInit(&x_, CUDA_R_32F, extent(what.k), extent(what.m), what.k),
            "cublasLtMatrixLayoutInit");
    require(cublasLtMatrixLayoutInit(&y_, CUDA_R_32F, extent(what.n), extent(what.m), what.n),
            "cublasLtMatrixLayoutInit");
    for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu})
      find_algorithm(activation);
  }
  LinearLayer(const LinearLayer&) = delete;
  LinearLayer& operator=(const LinearLayer&) = delete;
  ~LinearLayer() { cublasLtDestroy(handle_); }

  void operator()(const LinearCall<float>& call) {
    cublasLtMatmulDescOpaque_t operation = operation_of(call.activation, call.bias);
    const float one = 1, zero = 0;
    require(cublasLtMatmul(handle_, &operation, &one, call.w, &w_, call.x, &x_, &zero, call.y, &y_,
                           call.y, &y_, &algorithms_[index_of(call.activation)], workspace_.data(),
                           workspace_bytes, stream_),
            "cublasLtMatmul");
  }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t(64) << 20;

  static std::size_t index_of(Activation activation) {
    return static_cast<std::size_t>(activation);
  }

  cublasLtMatmulDescOpaque_t operation_of(Activation activation, const float* bias) const {
    cublasLtMatmulDescOpaque_t operation;
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
      require(cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof value),
              "cublasLtMatmulDescSetAttribute");
    };
    require(cublasLtMatmulDescInit(&operation, compute_, CUDA_R_32F), "cublasLtMatmulDescInit");
    set(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(CUBLAS_OP_T));
    const cublasLtEpilogue_t epilogue = activation == Activation::relu ? CUBLASLT_EPILOGUE_RELU_BIAS
                                        : activation == Activation::gelu
                                            ? CUBLASLT_EPILOGUE_GELU_BIAS
                                            : CUBLASLT_EPILOGUE_BIAS;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    return operation;
  }

  /// The library's first proposal.
  void find_algorithm(Activation activation) {
    cublasLtMatmulDescOpaque_t operation = operation_of(activation, nullptr);
    cublasLtMatmulPreferenceOpaque_t preference;
    require(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
    const std::uint64_t bytes = workspace_bytes;
    require(cublasLtMatmulPreferenceSetAttribute(
                &preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
            "cublasLtMatmulPreferenceSetAttribute");
    cublasLtMatmulHeuristicResult_t result;
    int found = 0;
    require(cublasLtMatmulAlgoGetHeuristic(handle_, &operation, &w_, &x_, &y_, &y_, &preference, 1,
                                           &result, &found),
            "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) throw std::runtime_error("cuBLASLt has no algorithm for it");
    algorithms_[index_of(activation)] = result.algo;
  }

  cudaStream_t stream_;
  cublasComputeType_t compute_;
  detail::BackendBuffer workspace_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatrixLayoutOpaque_t w_, x_, y_;
  cublasLtMatmulAlgo_t algorithms_[3];
};

class CublasLtEpilogues : public Peer {
 public:
  CublasLtEpilogues(Backend backend, bool is_tf32) : backend_(backend), is_tf32_(is_tf32) {}

  std::string name() const override {
    return is_tf32_ ? "cuBLASLt with its epilogues, tf32" : "cuBLASLt with its epilogues";
  }

  std::string absence() const override {
    return backend_ == Backend::cuda ? "" : "it runs on NVIDIA's GPUs: run with --backend cuda";
  }

  std::string refusal(const Case& what) const override {
    if (what.dtype != DataType::float32) return "its kernels for what is left are written for f32";
    return unfused::kokkos_refusal(backend_, what);
  }

  Work prepare(const ExecutionSpace& space, const Case& what, const Inputs& inputs,
               const std::vector<DeviceTensor>& outputs) const override {
    const auto layer = std::make_shared<LinearLayer>(space, what, is_tf32_);
    return unfused::kokkos_work(
        space, [layer](const LinearCall<float>& call) { (*layer)(call); }, what, inputs, outputs);
  }

 private:
  Backend backend_;
  bool is_tf32_;
};

}  // namespace

std::unique_ptr<Peer> make_cublaslt_epilogues(Backend backend, bool is_tf32) {
  return std::make_unique<CublasLtEpilogues>(backend, is_tf32);
}

}  // namespace perf
}  // namespace postlude
