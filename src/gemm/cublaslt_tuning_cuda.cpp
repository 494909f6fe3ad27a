#include "gemm/cublaslt_tuning.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "gemm/cuda_status.hpp"

namespace postlude {
namespace detail {
namespace {

/// Numbers of magnitude 0.5 to 1 and either sign, by their bits: zeros would run faster than data
/// does.
template <class Bits>
__global__ void fill(Bits* data, std::size_t count, Bits half, Bits fraction) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    std::uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15ull;
    bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9ull;
    bits ^= bits >> 32;
    const Bits sign = static_cast<Bits>((bits >> 40 & 1) << (8 * sizeof(Bits) - 1));
    data[i] = static_cast<Bits>(half | sign | (static_cast<Bits>(bits) & fraction));
  }
}

std::size_t elements(const MatmulMatrix& matrix, int batch) {
  return static_cast<std::size_t>(matrix.leading_dimension * matrix.columns +
                                  (batch - 1) * matrix.batch_stride);
}

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) {
    require_success(cudaMalloc(&data_, bytes), "cudaMalloc for the timing of algorithms");
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

class Event {
 public:
  Event() { require_success(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record() { require_success(cudaEventRecord(event_, nullptr), "cudaEventRecord"); }
  float since(const Event& begin) const {
    require_success(cudaEventSynchronize(event_), "cudaEventSynchronize");
    float milliseconds = 0;
    require_success(cudaEventElapsedTime(&milliseconds, begin.event_, event_),
                    "cudaEventElapsedTime");
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

void fill_factor(void* data, cudaDataType_t type, std::size_t count) {
  constexpr int blocks = 1024, threads = 256;
  if (type == CUDA_R_32F)
    fill<std::uint32_t>
        <<<blocks, threads>>>(static_cast<std::uint32_t*>(data), count, 0x3f000000u, 0x7fffffu);
  else if (type == CUDA_R_16F)
    fill<std::uint16_t>
        <<<blocks, threads>>>(static_cast<std::uint16_t*>(data), count, 0x3800, 0x3ff);
  else
    fill<std::uint16_t>
        <<<blocks, threads>>>(static_cast<std::uint16_t*>(data), count, 0x3f00, 0x7f);
  require_success(cudaGetLastError(), "filling memory for the timing of algorithms");
}

/// Parts into which an algorithm cuts k, to be added up by a second kernel.
std::int32_t parts_of_k(const cublasLtMatmulAlgo_t& algorithm) {
  std::int32_t parts = 1;
  std::size_t written = 0;
  require_success(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM,
                                                       &parts, sizeof parts, &written),
                  "cublasLtMatmulAlgoConfigGetAttribute");
  return parts;
}

/// Of the library's proposals the first; for short sums of small products the first that has no
/// second kernel: launching one takes the host longer than a few hundred steps take the device.
std::size_t preferred_algorithm(const MatmulShape& shape,
                                const std::vector<cublasLtMatmulHeuristicResult_t>& algorithms) {
  constexpr std::int64_t short_sum = 512;
  constexpr std::int64_t small_product = 1 << 18;
  const std::int64_t k = shape.a.transpose ? shape.a.rows : shape.a.columns;
  if (k > short_sum || shape.batch * shape.d.rows * shape.d.columns > small_product) return 0;
  for (std::size_t i = 0; i < algorithms.size(); ++i)
    if (parts_of_k(algorithms[i].algo) <= 1) return i;
  return 0;
}

}  // namespace

std::size_t fastest_algorithm(int device, const CublasLtMatmul& matmul, const MatmulShape& shape,
                              const std::vector<cublasLtMatmulHeuristicResult_t>& algorithms) {
  if (algorithms.size() == 1) return 0;
  int previous = 0;
  require_success(cudaGetDevice(&previous), "cudaGetDevice");
  require_success(cudaSetDevice(device), "cudaSetDevice");
  const std::size_t element = shape.factor_type == CUDA_R_32F ? 4 : 2;
  const DeviceMemory a(elements(shape.a, shape.batch) * element);
  const DeviceMemory b(elements(shape.b, shape.batch) * element);
  const DeviceMemory d(elements(shape.d, shape.batch) * sizeof(float));
  const DeviceMemory workspace(most_matmul_workspace);
  fill_factor(a.data(), shape.factor_type, elements(shape.a, shape.batch));
  fill_factor(b.data(), shape.factor_type, elements(shape.b, shape.batch));

  constexpr int runs = 7;
  std::size_t fastest = 0;
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    const auto run = [&] {
      matmul.run(nullptr, algorithms[i].algo, 1, a.data(), b.data(), 0, d.data(), workspace.data(),
                 most_matmul_workspace);
    };
    run();
    std::vector<float> milliseconds;
    for (int j = 0; j < runs; ++j) {
      Event begin, end;
      begin.record();
      run();
      end.record();
      milliseconds.push_back(end.since(begin));
    }
    std::nth_element(milliseconds.begin(), milliseconds.begin() + runs / 2, milliseconds.end());
    if (milliseconds[runs / 2] < least) {
      least = milliseconds[runs / 2];
      fastest = i;
    }
  }
  require_success(cudaSetDevice(previous), "cudaSetDevice");
  return fastest;
}

std::optional<cublasLtMatmulHeuristicResult_t> settle_algorithm(
    int device, const CublasLtMatmul& matmul, const MatmulShape& shape,
    const MatmulAlignment& alignment, std::size_t workspace, const std::string& name,
    const KeptAlgorithms& kept, bool is_timed) {
  if (const cublasLtMatmulAlgo_t* const algorithm = kept.find(name)) {
    const auto checked = matmul.check(*algorithm);
    if (checked.empty() || checked.front().workspaceSize > workspace)
      throw Error(Status::invalid_argument,
                  "gemm_choice has an algorithm that cuBLASLt does not run for this problem");
    return checked.front();
  }
  constexpr int most_proposals = 16;
  // Less workspace than the library would like makes it choose worse: it is first asked with all.
  for (const std::size_t allowed : {most_matmul_workspace, workspace}) {
    std::vector<cublasLtMatmulHeuristicResult_t> possible;
    for (const auto& proposal : matmul.algorithms(alignment, allowed, most_proposals))
      if (proposal.workspaceSize <= workspace) possible.push_back(proposal);
    if (!possible.empty())
      return possible[is_timed ? fastest_algorithm(device, matmul, shape, possible)
                               : preferred_algorithm(shape, possible)];
  }
  return {};
}

}  // namespace detail
}  // namespace postlude
