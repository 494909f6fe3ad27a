#include "gemm/split_weights.hpp"

#include <string>

#include "gemm/cuda_status.hpp"
#include "gemm/split_layout.hpp"

namespace postlude {
namespace detail {
namespace {

std::int64_t matrices_of(const GemmProblem& problem) {
  return problem.w.batch == 0 ? 1 : problem.batch;
}

void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes == 0) return memory;
  const cudaError_t result = cudaMalloc(&memory, bytes);
  if (result == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw Error(Status::out_of_memory,
                "cannot allocate " + std::to_string(bytes) + " bytes for prepared weights");
  }
  require_success(result, "cudaMalloc");
  return memory;
}

/// Scratch memory until the end of a function.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : memory_(allocate(bytes)) {}
  ~Scratch() { cudaFree(memory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  RowExtrema* extrema() const { return static_cast<RowExtrema*>(memory_); }

 private:
  void* memory_;
};

}  // namespace

SplitWeights::SplitWeights(int device, const GemmProblem& problem)
    : device_(device),
      matrices_(matrices_of(problem)),
      n_(problem.n),
      k_(problem.k),
      memory_(allocate(static_cast<std::size_t>(matrices_) * split_matrix_bytes(n_, k_))) {}

SplitWeights::~SplitWeights() {
  cudaFree(memory_);
  cudaFree(kept_);
}

bool SplitWeights::fit(int device, const GemmProblem& problem) const {
  return device == device_ && matrices_of(problem) == matrices_ && problem.n == n_ &&
         problem.k == k_;
}

std::size_t SplitWeights::bytes() const {
  return static_cast<std::size_t>(matrices_) * split_matrix_bytes(n_, k_) +
         kept_rows_ * static_cast<std::size_t>(k_) * sizeof(float);
}

SplitMatrix SplitWeights::matrix(std::int64_t batch) const {
  const std::int64_t index = matrices_ == 1 ? 0 : batch;
  char* const place =
      static_cast<char*>(memory_) + static_cast<std::size_t>(index) * split_matrix_bytes(n_, k_);
  return split_matrix_at(place, n_, k_, true);
}

void SplitWeights::refresh(const float* w, const MatrixStrides& strides, cudaStream_t stream) {
  {
    const Scratch scratch(splitting_bytes(n_, k_, strides.column));
    for (std::int64_t i = 0; i < matrices_; ++i)
      split_matrix({w + i * strides.batch, n_, k_, strides.row, strides.column}, matrix(i),
                   scratch.extrema(), stream);
    require_success(cudaStreamSynchronize(stream), "splitting w");
  }
  keep_marked_rows(w, strides, stream);
}

void SplitWeights::keep_marked_rows(const float* w, const MatrixStrides& strides,
                                    cudaStream_t stream) {
  std::vector<RowScale> scales(static_cast<std::size_t>(n_));
  const std::size_t bytes = scales.size() * sizeof(RowScale);
  std::size_t count = 0;
  // First the rows are counted and given places, then copied.
  for (std::int64_t i = 0; i < matrices_; ++i) {
    const std::size_t before = count;
    require_success(
        cudaMemcpyAsync(scales.data(), matrix(i).scales, bytes, cudaMemcpyDeviceToHost, stream),
        "reading the scales of w");
    require_success(cudaStreamSynchronize(stream), "reading the scales of w");
    for (RowScale& scale : scales)
      if (scale.marks != 0) scale.kept = static_cast<std::int32_t>(count++);
    if (count == before) continue;
    require_success(
        cudaMemcpyAsync(matrix(i).scales, scales.data(), bytes, cudaMemcpyHostToDevice, stream),
        "writing the scales of w");
    require_success(cudaStreamSynchronize(stream), "writing the scales of w");
  }
  if (count != kept_rows_) {
    require_success(cudaFree(kept_), "cudaFree");
    kept_ = nullptr;
    kept_rows_ = 0;
    kept_ = static_cast<float*>(allocate(count * static_cast<std::size_t>(k_) * sizeof(float)));
    kept_rows_ = count;
  }
  if (count == 0) return;
  for (std::int64_t i = 0; i < matrices_; ++i)
    keep_rows({w + i * strides.batch, n_, k_, strides.row, strides.column}, matrix(i).scales, kept_,
              stream);
  require_success(cudaStreamSynchronize(stream), "keeping rows of w");
}

}  // namespace detail
}  // namespace postlude
