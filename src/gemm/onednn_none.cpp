#include "gemm/onednn.hpp"

namespace postlude {
namespace detail {
namespace {

/// Stands for the engine where the build has no oneDNN.
class MissingOneDnnEngine final : public Engine {
 public:
  const char* name() const override { return "onednn"; }

  EngineAnswer consider(const ExecutionSpace&, const GemmProblem&,
                        const AlgorithmChoice&) const override {
    EngineAnswer answer;
    answer.candidate.name = name();
    answer.candidate.reason = "needs a host and oneDNN: this build was made without oneDNN";
    return answer;
  }
};

}  // namespace

const Engine& onednn_engine() {
  static const MissingOneDnnEngine engine;
  return engine;
}

}  // namespace detail
}  // namespace postlude
