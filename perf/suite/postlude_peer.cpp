#include <postlude/plan.hpp>

#include <utility>

#include "peer.hpp"

namespace postlude {
namespace perf {
namespace {

class PostludePeer : public Peer {
 public:
  explicit PostludePeer(std::string engine) : engine_(std::move(engine)) {}

  std::string name() const override {
    return engine_.empty() ? "postlude" : "postlude, engine " + engine_;
  }

  std::string refusal(const Case&) const override { return ""; }

  Work prepare(const ExecutionSpace& space, const Case& what, const Inputs& inputs,
               const std::vector<DeviceTensor>& outputs) const override {
    std::vector<OperandDeclaration> declarations;
    for (const CaseOperand& operand : what.operands)
      declarations.push_back({operand.name, operand.kind});
    PlanOptions options;
    options.engine = engine_;
    const Plan plan(space, {inputs.x(0).tensor(), inputs.w(0).tensor()}, what.text, declarations,
                    options);
    std::vector<Arguments> arguments;
    for (int copy = 0; copy < inputs.copies(); ++copy) {
      arguments.push_back(inputs.arguments(what, copy));
      arguments.back().outputs = {outputs[static_cast<std::size_t>(copy)].tensor()};
    }
    return [space, plan, arguments](int copy) {
      plan.execute(space, arguments[static_cast<std::size_t>(copy)]);
    };
  }

 private:
  std::string engine_;
};

}  // namespace

std::unique_ptr<Peer> make_postlude(const std::string& engine) {
  return std::make_unique<PostludePeer>(engine);
}

}  // namespace perf
}  // namespace postlude
