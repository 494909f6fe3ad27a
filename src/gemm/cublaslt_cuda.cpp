#include "gemm/cublaslt.hpp"

#include <algorithm>
#include <climits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gemm/cublaslt_matmul.hpp"
#include "gemm/cublaslt_tuning.hpp"
#include "gemm/cuda_status.hpp"
#include "gemm/kept_algorithms.hpp"
#include "gemm/matrix_form.hpp"
#include "gemm/tensor_cores.hpp"
#include "gemm/vendor_epilogue.hpp"

namespace postlude {
namespace detail {
namespace {

/// `rows` x k elements of a factor; op() of the first factor is rows x k, of the second k x rows.
MatmulMatrix factor(const BlasMatrix& form, std::int64_t rows, std::int64_t k,
                    const MatrixStrides& strides, bool is_first) {
  const bool by_rows = form.form == MatrixForm::row_major;
  MatmulMatrix matrix;
  matrix.rows = by_rows ? k : rows;
  matrix.columns = by_rows ? rows : k;
  matrix.leading_dimension = form.leading_dimension;
  matrix.batch_stride = strides.batch;
  matrix.transpose = by_rows == is_first;
  return matrix;
}

cudaDataType_t cuda_type(DataType dtype) {
  return dtype == DataType::float16    ? CUDA_R_16F
         : dtype == DataType::bfloat16 ? CUDA_R_16BF
                                       : CUDA_R_32F;
}

cublasLtEpilogue_t vendor_epilogue(const VendorEpilogue& epilogue) {
  return epilogue.has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

/// The product with the result of the epilogue in the place of y.
MatmulShape shape_of(const GemmProblem& problem, const VendorEpilogue& epilogue) {
  const BlasMatrix x = blas_form(problem.m, problem.k, problem.x);
  const BlasMatrix w = blas_form(problem.n, problem.k, problem.w);
  const bool column_major = has_column_major_y(problem);
  MatmulShape shape;
  shape.factor_type = cuda_type(problem.dtype);
  shape.result_type = cuda_type(epilogue.dtype);
  shape.epilogue = vendor_epilogue(epilogue);
  shape.compute = problem.compute == ComputeMode::f32_fast_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                : CUBLAS_COMPUTE_32F;
  shape.batch = static_cast<int>(problem.batch);
  const MatmulMatrix of_x = factor(x, problem.m, problem.k, problem.x, column_major);
  const MatmulMatrix of_w = factor(w, problem.n, problem.k, problem.w, !column_major);
  shape.a = column_major ? of_x : of_w;
  shape.b = column_major ? of_w : of_x;
  shape.d.rows = column_major ? problem.m : problem.n;
  shape.d.columns = column_major ? problem.n : problem.m;
  shape.d.leading_dimension = blas_form(problem.m, problem.n, problem.y).leading_dimension;
  shape.d.batch_stride = problem.y.batch;
  return shape;
}

/// Of one product on which the library's choice depends: 256 bytes, 16, which is what its fastest
/// kernels ask for, or less.
std::uint32_t alignment_class(const void* a, const void* b, const void* d, const void* bias) {
  const std::uint32_t least =
      std::min({alignment_of(a), alignment_of(b), alignment_of(d), alignment_of(bias)});
  return least > 16 && least < 256 ? 16 : least;
}

/// An algorithm depends on where y is, on what is made of it, and how addresses are aligned, which
/// may differ from what the plan was made for: y in the caller's memory, say, with padded rows.
struct Variant {
  struct Key {
    bool is_column_major;
    std::int64_t leading_dimension;
    std::int64_t batch_stride;
    std::uint32_t alignment;
    cublasLtEpilogue_t epilogue;
    DataType result;

    bool operator==(const Key& other) const {
      return is_column_major == other.is_column_major &&
             leading_dimension == other.leading_dimension && batch_stride == other.batch_stride &&
             alignment == other.alignment && epilogue == other.epilogue && result == other.result;
    }
  };

  Variant(int device, const GemmProblem& problem, const VendorEpilogue& epilogue,
          std::uint32_t alignment, std::size_t workspace, const KeptAlgorithms& kept, bool is_timed)
      : key(key_of(problem, epilogue, alignment)), matmul(device, shape_of(problem, epilogue)) {
    const auto settled =
        settle_algorithm(device, matmul, shape_of(problem, epilogue),
                         {alignment, alignment, alignment}, workspace, name(), kept, is_timed);
    is_possible = settled.has_value();
    if (is_possible) algorithm = *settled;
  }

  static Key key_of(const GemmProblem& problem, const VendorEpilogue& epilogue,
                    std::uint32_t alignment) {
    const BlasMatrix form = blas_form(problem.m, problem.n, problem.y);
    return {form.form == MatrixForm::column_major,
            form.leading_dimension,
            problem.batch == 1 ? 0 : problem.y.batch,
            alignment,
            vendor_epilogue(epilogue),
            epilogue.dtype};
  }

  /// Among KeptAlgorithms.
  std::string name() const {
    return std::to_string(key.alignment) + "/" + name_of(key.result) + "/" +
           std::to_string(static_cast<int>(key.epilogue));
  }

  Key key;
  CublasLtMatmul matmul;
  bool is_possible = false;
  cublasLtMatmulHeuristicResult_t algorithm = {};
};

class CublasLtGemm final : public GemmPlan {
 public:
  CublasLtGemm(int device, const GemmProblem& problem, const AlgorithmChoice& choice)
      : device_(device),
        kept_(choice.kept.empty() ? KeptAlgorithms(device) : KeptAlgorithms(device, choice.kept)),
        is_timed_(choice.is_timed),
        settled_(device) {
    if (is_trivial(problem)) return;
    is_possible_ = settle(problem, VendorEpilogue());
  }

  bool is_possible() const { return is_possible_; }
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  std::string algorithms() const override { return settled_.is_empty() ? "" : settled_.text(); }

  void run(const ExecutionSpace& space, const GemmProblem& problem,
           const GemmArguments& arguments) const override {
    if (problem.batch == 0 || problem.m == 0 || problem.n == 0) return;
    const cudaStream_t stream = stream_of(space);
    if (problem.k == 0) return zero_result(problem, arguments.y, stream);
    VendorEpilogue epilogue;
    epilogue.result = arguments.y;
    if (!multiply(problem, epilogue, arguments, stream))
      throw Error(
          Status::unsupported,
          "cuBLASLt has no algorithm for the addresses of x, w and y: use multiples of 16, or "
          "the engine kokkos_kernels");
  }

  TakenStages take_in(const GemmProblem& problem, const FollowingStages& stages) const override {
    const FollowingStage& stage = stages.front();
    if (is_trivial(problem) || stage.keeps_y) return {};
    const std::optional<VendorEpilogue> epilogue = as_vendor_epilogue(stage.planned, stage.bound);
    if (!epilogue || !is_writable(problem, *epilogue)) return {};
    if (!settle(with_result(problem, *epilogue), *epilogue)) return {};
    return {to_string(*epilogue), 1, workspace_bytes_, ""};
  }

  bool run_with(const ExecutionSpace& space, const GemmProblem& problem,
                const GemmArguments& arguments, const FollowingStages& stages) const override {
    if (is_trivial(problem)) return false;
    const FollowingStage& stage = stages.front();
    const std::optional<VendorEpilogue> epilogue = as_vendor_epilogue(stage.planned, stage.bound);
    return epilogue && is_writable(problem, *epilogue) &&
           multiply(with_result(problem, *epilogue), *epilogue, arguments, stream_of(space));
  }

 private:
  static GemmProblem with_result(GemmProblem problem, const VendorEpilogue& epilogue) {
    problem.y = epilogue.strides;
    return problem;
  }

  /// Whether the library can write the result, and its bias lies along what is contiguous there.
  static bool is_writable(const GemmProblem& problem, const VendorEpilogue& epilogue) {
    const BlasMatrix planned = blas_form(problem.m, problem.n, problem.y);
    const BlasMatrix result = blas_form(problem.m, problem.n, epilogue.strides);
    const bool has_bias_along =
        !epilogue.has_bias || epilogue.is_bias_of_rows == (result.form == MatrixForm::column_major);
    return result.form == planned.form && result.form != MatrixForm::neither && has_bias_along &&
           result.leading_dimension <= INT_MAX &&
           (epilogue.dtype == DataType::float32 || epilogue.dtype == problem.dtype) &&
           (problem.batch == 1 || epilogue.strides.batch >= 0);
  }

  /// Settles on algorithms for a plan; false when the library has none.
  bool settle(const GemmProblem& problem, const VendorEpilogue& epilogue) const {
    bool is_possible = false;
    for (const std::uint32_t alignment : {256, 16}) {
      auto made = std::make_unique<Variant>(device_, problem, epilogue, alignment,
                                            most_matmul_workspace, kept_, is_timed_);
      if (!made->is_possible) continue;
      is_possible = true;
      settled_.add(made->name(), made->algorithm.algo);
      workspace_bytes_ = std::max(workspace_bytes_, made->algorithm.workspaceSize);
      variants_.push_back(std::move(made));
    }
    return is_possible;
  }

  bool multiply(const GemmProblem& problem, const VendorEpilogue& epilogue,
                const GemmArguments& arguments, cudaStream_t stream) const {
    const bool column_major = has_column_major_y(problem);
    const void* a = column_major ? arguments.x : arguments.w;
    const void* b = column_major ? arguments.w : arguments.x;
    const Variant& variant =
        variant_for(problem, epilogue, alignment_class(a, b, epilogue.result, epilogue.bias));
    if (!variant.is_possible) return false;
    variant.matmul.run(stream, variant.algorithm.algo, 1, a, b, 0, epilogue.result,
                       arguments.workspace, workspace_bytes_, epilogue.bias);
    return true;
  }

  const Variant& variant_for(const GemmProblem& problem, const VendorEpilogue& epilogue,
                             std::uint32_t alignment) const {
    const Variant::Key key = Variant::key_of(problem, epilogue, alignment);
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& variant : variants_)
      if (variant->key == key) return *variant;
    variants_.push_back(std::make_unique<Variant>(
        device_, problem, epilogue, alignment, workspace_bytes_, KeptAlgorithms(device_), false));
    return *variants_.back();
  }

  int device_;
  bool is_possible_ = true;
  KeptAlgorithms kept_;
  bool is_timed_;
  // Changed while the plan is made, and by one thread.
  mutable std::size_t workspace_bytes_ = 0;
  mutable KeptAlgorithms settled_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<const Variant>> variants_;
};

/// Of products in the mode f32_emulated_f16x3: about 6 microseconds at a strict GEMM's 45 TFLOP/s.
constexpr double small_flops = 268435456;

/// Why the engine leaves a problem to others, "" when it does not.
std::string refusal(const ExecutionSpace& space, const GemmProblem& problem) {
  const bool is_small = problem.dtype == DataType::float16 || problem.dtype == DataType::bfloat16;
  const bool is_f32 = problem.dtype == DataType::float32 &&
                      (problem.compute == ComputeMode::f32_fast_tf32 ||
                       problem.compute == ComputeMode::f32 || is_small_emulated(problem));
  if (!is_f32 && !(is_small && problem.compute == ComputeMode::automatic))
    return std::string("takes f16 and bf16, f32 in the modes f32 and f32_fast_tf32 and, up to ") +
           std::to_string(static_cast<int>(small_flops * 1e-6)) +
           " MFLOP, in the mode f32_emulated_f16x3, not " + name_of(problem.dtype) +
           " in the mode " + name_of(problem.compute);
  const std::string device = tensor_core_refusal(space);
  if (!device.empty()) return device;
  const std::string size = size_refusal(problem);
  if (!size.empty()) return size;
  const BlasMatrix x = blas_form(problem.m, problem.k, problem.x);
  const BlasMatrix w = blas_form(problem.n, problem.k, problem.w);
  if (x.form == MatrixForm::neither) return "x has no unit stride";
  if (w.form == MatrixForm::neither) return "w has no unit stride";
  if (problem.batch > 1 && (problem.x.batch < 0 || problem.w.batch < 0))
    return "the batch runs backwards";
  for (const std::int64_t leading : {x.leading_dimension, w.leading_dimension})
    if (leading > INT_MAX)
      return "leading dimensions are limited to 2147483647, not " + std::to_string(leading);
  return "";
}

class CublasLtEngine final : public Engine {
 public:
  const char* name() const override { return "cublaslt"; }

  EngineAnswer consider(const ExecutionSpace& space, const GemmProblem& problem,
                        const AlgorithmChoice& choice) const override {
    EngineAnswer answer;
    answer.candidate.name = name();
    answer.candidate.reason = refusal(space, problem);
    if (!answer.candidate.reason.empty()) return answer;
    const auto gemm = std::make_shared<const CublasLtGemm>(device_of(space), problem, choice);
    if (!gemm->is_possible()) {
      answer.candidate.reason = "cuBLASLt has no algorithm for these sizes and strides";
      return answer;
    }
    answer.candidate.accepts = true;
    answer.candidate.workspace_bytes = gemm->workspace_bytes();
    answer.candidate.reason =
        problem.compute == ComputeMode::f32 || is_small_emulated(problem)
            ? std::string("cublasLtMatmul in strict f32") +
                  (is_small_emulated(problem) ? ", at this size faster than f16 parts" : "")
            : std::string("cublasLtMatmul; products of ") +
                  (problem.dtype == DataType::float32 ? "tf32" : name_of(problem.dtype)) +
                  ", sums in f32 on tensor cores";
    answer.gemm = gemm;
    return answer;
  }
};

}  // namespace

bool is_small_emulated(const GemmProblem& problem) {
  return problem.compute == ComputeMode::f32_emulated_f16x3 &&
         2.0 * static_cast<double>(problem.batch) * static_cast<double>(problem.m) *
                 static_cast<double>(problem.n) * static_cast<double>(problem.k) <=
             small_flops;
}

const Engine& cublaslt_engine() {
  static const CublasLtEngine engine;
  return engine;
}

}  // namespace detail
}  // namespace postlude
