#include "gemm/split.hpp"

#include <memory>
#include <optional>
#include <string>

#include "gemm/split_gemm.hpp"
#include "gemm/split_gemm_weights.hpp"
#include "gemm/tensor_cores.hpp"

namespace postlude {
namespace detail {
namespace {

class SplitGemmPlan final : public GemmPlan {
 public:
  SplitGemmPlan(int device, const GemmProblem& problem, const AlgorithmChoice& choice)
      : device_(device) {
    if (problem.batch != 0 && problem.m != 0 && problem.n != 0 && problem.k != 0)
      gemm_.emplace(device, problem, split_scheme(problem.m), choice);
  }

  std::string refusal() const { return gemm_ ? gemm_->refusal() : ""; }
  std::string algorithms() const override { return gemm_ ? gemm_->algorithms() : ""; }
  std::size_t workspace_bytes() const { return gemm_ ? gemm_->workspace_bytes() : 0; }
  std::size_t weights_bytes() const { return gemm_ ? gemm_->weights_bytes() : 0; }

  void run(const ExecutionSpace& space, const GemmProblem& problem,
           const GemmArguments& arguments) const override {
    if (problem.batch == 0 || problem.m == 0 || problem.n == 0) return;
    if (!gemm_) return zero_result(problem, arguments.y, stream_of(space));
    const SplitWeights* weights =
        arguments.weights == nullptr
            ? nullptr
            : &static_cast<const SplitGemmWeights*>(arguments.weights)->weights();
    gemm_->run(problem, static_cast<const float*>(arguments.x),
               static_cast<const float*>(arguments.w), weights, static_cast<float*>(arguments.y),
               arguments.workspace, stream_of(space), arguments.row_factors,
               arguments.column_factors);
  }

  std::unique_ptr<GemmWeights> make_weights(const ExecutionSpace& space,
                                            const GemmProblem& problem) const override {
    if (!gemm_) return nullptr;
    return std::make_unique<SplitGemmWeights>(device_of(space), problem);
  }

  bool takes(const GemmWeights& weights, const GemmProblem& problem) const override {
    const auto* split = dynamic_cast<const SplitGemmWeights*>(&weights);
    return split != nullptr && split->weights().fit(device_, problem);
  }

 private:
  int device_;
  std::optional<SplitGemm> gemm_;  ///< absent when there is nothing to multiply
};

class SplitEngine final : public Engine {
 public:
  const char* name() const override { return "split"; }

  EngineAnswer consider(const ExecutionSpace& space, const GemmProblem& problem,
                        const AlgorithmChoice& choice) const override {
    EngineAnswer answer;
    answer.candidate.name = name();
    std::string& reason = answer.candidate.reason;
    if (problem.dtype != DataType::float32 || problem.compute != ComputeMode::f32_emulated_f16x3) {
      reason = std::string("computes in f32_emulated_f16x3, not in ") + name_of(problem.compute);
      return answer;
    }
    reason = tensor_core_refusal(space);
    if (reason.empty()) reason = size_refusal(problem);
    if (!reason.empty()) return answer;
    const auto gemm = std::make_shared<const SplitGemmPlan>(device_of(space), problem, choice);
    reason = gemm->refusal();
    if (!reason.empty()) return answer;
    answer.candidate.accepts = true;
    answer.candidate.workspace_bytes = gemm->workspace_bytes();
    answer.candidate.weights_bytes = gemm->weights_bytes();
    answer.candidate.leaves_factors =
        problem.k != 0 && SplitGemm::leaves_factors(split_scheme(problem.m));
    reason = split_scheme(problem.m) == SplitScheme::stacked
                 ? "splits x and w in f16 parts; two cublasLtMatmul, x's parts on top of each other"
                 : "splits x and w in f16 parts; two cublasLtMatmul, parts side by side along k";
    answer.gemm = gemm;
    return answer;
  }
};

}  // namespace

const Engine& split_engine() {
  static const SplitEngine engine;
  return engine;
}

}  // namespace detail
}  // namespace postlude
