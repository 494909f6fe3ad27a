#include "gemm/hopper.hpp"

namespace postlude {
namespace detail {
namespace {

/// Stands for the engine where the build has no kernels for sm_90a.
class MissingHopperEngine final : public Engine {
 public:
  const char* name() const override { return "hopper"; }

  EngineAnswer consider(const ExecutionSpace&, const GemmProblem&,
                        const AlgorithmChoice&) const override {
    EngineAnswer answer;
    answer.candidate.name = name();
    answer.candidate.reason =
        "needs a CUDA device of compute capability 9.0: this build has no kernels for it";
    return answer;
  }
};

}  // namespace

const Engine& hopper_engine() {
  static const MissingHopperEngine engine;
  return engine;
}

}  // namespace detail
}  // namespace postlude
