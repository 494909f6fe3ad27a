#include "gemm/cublaslt.hpp"
#include "gemm/split.hpp"

namespace postlude {
namespace detail {
namespace {

/// Stands for an engine that this build does not have.
class MissingEngine final : public Engine {
 public:
  explicit MissingEngine(const char* name) : name_(name) {}

  const char* name() const override { return name_; }

  EngineAnswer consider(const ExecutionSpace&, const GemmProblem&,
                        const AlgorithmChoice&) const override {
    EngineAnswer answer;
    answer.candidate.name = name_;
    answer.candidate.reason =
        "needs a CUDA device of compute capability 8.0 or above: this build has no CUDA";
    return answer;
  }

 private:
  const char* name_;
};

}  // namespace

const Engine& cublaslt_engine() {
  static const MissingEngine engine("cublaslt");
  return engine;
}

const Engine& split_engine() {
  static const MissingEngine engine("split");
  return engine;
}

}  // namespace detail
}  // namespace postlude
