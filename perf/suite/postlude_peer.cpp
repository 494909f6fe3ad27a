#include <postlude/plan.hpp>
#include <postlude/prepared_weights.hpp>

#include <memory>
#include <utility>

#include "peer.hpp"

namespace postlude {
namespace perf {
namespace {

class PostludePeer : public Peer {
 public:
  PostludePeer(Backend backend, ComputeMode compute, bool is_prepared, std::string engine)
      : backend_(backend),
        compute_(compute),
        is_prepared_(is_prepared),
        engine_(std::move(engine)) {}

  std::string name() const override {
    std::string name = "postlude";
    if (compute_ != ComputeMode::automatic) name += std::string(", ") + name_of(compute_);
    if (is_prepared_) name += ", prepared weights";
    return engine_.empty() ? name : name + ", engine " + engine_;
  }

  /// TF32 does not promise the tolerance of float32.
  bool must_be_right() const override { return compute_ != ComputeMode::f32_fast_tf32; }

  std::string absence() const override {
    return is_of_tensor_cores() && backend_ != Backend::cuda
               ? "the mode is of NVIDIA's tensor cores"
               : "";
  }

  std::string refusal(const Case& what) const override {
    return is_of_tensor_cores() && what.dtype != DataType::float32 ? "the mode is of float32" : "";
  }

  Work prepare(const ExecutionSpace& space, const Case& what, const Inputs& inputs,
               const std::vector<DeviceTensor>& outputs) const override {
    std::vector<OperandDeclaration> declarations;
    for (const CaseOperand& operand : what.operands)
      declarations.push_back({operand.name, operand.kind});
    PlanOptions options;
    options.engine = engine_;
    const Plan plan(space, {inputs.x(0).tensor(), inputs.w(0).tensor(), compute_}, what.text,
                    declarations, options);
    auto weights = std::make_shared<std::vector<PreparedWeights>>();
    std::vector<Arguments> arguments;
    for (int copy = 0; copy < inputs.copies(); ++copy) {
      arguments.push_back(inputs.arguments(what, copy));
      arguments.back().outputs = {outputs[static_cast<std::size_t>(copy)].tensor()};
      if (!is_prepared_) continue;
      weights->emplace_back(space, plan, inputs.w(copy).tensor());
      if (weights->back().bytes() == 0) throw Refusal("its engine has nothing to prepare");
    }
    for (std::size_t i = 0; i < weights->size(); ++i)
      arguments[i].prepared_weights = &(*weights)[i];
    return [space, plan, weights, arguments](int copy) {
      plan.execute(space, arguments[static_cast<std::size_t>(copy)]);
    };
  }

 private:
  bool is_of_tensor_cores() const {
    return compute_ == ComputeMode::f32_emulated_f16x3 || compute_ == ComputeMode::f32_fast_tf32;
  }

  Backend backend_;
  ComputeMode compute_;
  bool is_prepared_;
  std::string engine_;
};

}  // namespace

std::unique_ptr<Peer> make_postlude(Backend backend, ComputeMode compute, bool is_prepared,
                                    const std::string& engine) {
  return std::make_unique<PostludePeer>(backend, compute, is_prepared, engine);
}

}  // namespace perf
}  // namespace postlude
