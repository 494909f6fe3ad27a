#include "plan/stage_builder.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include <postlude/error.hpp>

#include "expression/signature.hpp"

namespace postlude {
namespace detail {
namespace {

[[noreturn]] void too_large(const char* what, std::size_t needed, int available) {
  throw Error(Status::unsupported, "the program is too large: one of its stages needs " +
                                       std::to_string(needed) + " " + what + ", at most " +
                                       std::to_string(available) + " are possible");
}

/// One step of the stage before slots are assigned: computes `value`, or gives it to `target`.
struct Step {
  int value = -1;
  int target = -1;
  bool changes_accumulator() const { return target < 0; }
};

class StageBuilder {
 public:
  StageBuilder(const Program& program, const std::vector<StageTarget>& targets,
               const Intermediates& intermediates, PlannedStage& planned)
      : program_(program), targets_(targets), intermediates_(intermediates), planned_(planned) {}

  void build() {
    schedule();
    assign_slots();
    emit();
    fill_totals();
  }

 private:
  const Value& value(int index) const { return program_.values[static_cast<std::size_t>(index)]; }

  /// Read from memory or from the scalars, not computed by this stage.
  bool is_leaf(int index) const { return value(index).kind != NodeKind::pointwise; }

  /// y is loaded once even when it is used often: its storage may be overwritten by a result.
  bool is_step(int index) const {
    return !is_leaf(index) || (value(index).kind == NodeKind::gemm_result && uses_of_y_ > 1);
  }

  void count_uses_of_y(int index, std::set<int>& seen) {
    if (value(index).kind == NodeKind::gemm_result) ++uses_of_y_;
    if (is_leaf(index) || !seen.insert(index).second) return;
    for (const int input : value(index).inputs) count_uses_of_y(input, seen);
  }

  /// Registers that evaluating a value takes when nothing is shared (Sethi and Ullman, 1970).
  int pressure(int index) {
    if (is_leaf(index)) return 0;
    const auto known = pressure_.find(index);
    if (known != pressure_.end()) return known->second;
    std::vector<int> needs;
    for (const int input : value(index).inputs) needs.push_back(pressure(input));
    std::sort(needs.rbegin(), needs.rend());
    int result = 1;
    for (std::size_t i = 0; i < needs.size(); ++i)
      result = std::max(result, needs[i] + static_cast<int>(i));
    return pressure_[index] = result;
  }

  void visit(int index) {
    if (!is_step(index) || position_of_.count(index) != 0) return;
    if (!is_leaf(index)) {
      std::vector<int> inputs = value(index).inputs;
      std::stable_sort(inputs.begin(), inputs.end(),
                       [this](int a, int b) { return pressure(a) > pressure(b); });
      for (const int input : inputs) visit(input);
    }
    position_of_[index] = steps_.size();
    steps_.push_back({index, -1});
  }

  void schedule() {
    std::set<int> seen;
    for (const StageTarget& target : targets_) count_uses_of_y(target.value, seen);
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      visit(targets_[i].value);
      steps_.push_back({targets_[i].value, static_cast<int>(i)});
    }
    if (steps_.size() > static_cast<std::size_t>(maximum_instructions))
      too_large("instructions", steps_.size(), maximum_instructions);
  }

  std::vector<int> inputs_of(const Step& step) const {
    if (step.target >= 0) return {step.value};
    return is_leaf(step.value) ? std::vector<int>() : value(step.value).inputs;
  }

  /// A value needs a slot when a later step changes the accumulator before the value's last use.
  void assign_slots() {
    std::map<int, std::size_t> last_use;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (const int input : inputs_of(steps_[i])) last_use[input] = i;

    std::vector<std::size_t> next_change(steps_.size() + 1, steps_.size());
    for (std::size_t i = steps_.size(); i-- > 0;)
      next_change[i] = steps_[i].changes_accumulator() ? i : next_change[i + 1];

    std::set<int> free_slots;
    for (int slot = 0; slot < maximum_slots; ++slot) free_slots.insert(slot);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (const int input : inputs_of(steps_[i])) {
        const auto slot = slot_of_.find(input);
        if (slot != slot_of_.end() && last_use[input] == i) free_slots.insert(slot->second);
      }
      if (!steps_[i].changes_accumulator()) continue;
      const int computed = steps_[i].value;
      if (last_use[computed] <= next_change[i + 1]) continue;
      if (free_slots.empty())
        too_large("values that live at once", static_cast<std::size_t>(maximum_slots) + 1,
                  maximum_slots);
      slot_of_[computed] = *free_slots.begin();
      free_slots.erase(free_slots.begin());
    }
  }

  void emit() {
    int in_accumulator = -1;
    for (const Step& step : steps_) {
      Instruction instruction;
      if (step.target >= 0) {
        const StageTarget& target = targets_[static_cast<std::size_t>(step.target)];
        instruction.sources[0] = source_of(step.value, in_accumulator);
        const std::size_t output = add_operand(target.output);
        if (target.is_reduction) {
          instruction.action = Action::reduce;
          instruction.target = add_reduction(value(target.reduction), output);
        } else {
          instruction.action = Action::store;
          instruction.target = static_cast<std::uint8_t>(output);
        }
      } else {
        if (is_leaf(step.value)) {
          instruction.action = Action::load;
          instruction.sources[0] = leaf_source(step.value);
        } else {
          compute(value(step.value), in_accumulator, instruction);
        }
        in_accumulator = step.value;
        const auto slot = slot_of_.find(step.value);
        if (slot != slot_of_.end()) instruction.slot = static_cast<std::uint8_t>(slot->second);
      }
      planned_.stage.instructions[planned_.stage.instruction_count++] = instruction;
    }
  }

  void compute(const Value& computed, int in_accumulator, Instruction& instruction) {
    static constexpr Action actions[] = {Action::unary, Action::binary, Action::ternary};
    instruction.action = actions[computed.inputs.size() - 1];
    instruction.operation = computed.operation;
    for (std::size_t i = 0; i < computed.inputs.size(); ++i)
      instruction.sources[i] = source_of(computed.inputs[i], in_accumulator);
  }

  Source source_of(int index, int in_accumulator) {
    if (index == in_accumulator) return {SourceKind::accumulator, 0};
    if (!is_step(index)) return leaf_source(index);
    return {SourceKind::slot, static_cast<std::size_t>(slot_of_.at(index))};
  }

  Source leaf_source(int index) {
    const Value& leaf = value(index);
    switch (leaf.kind) {
      case NodeKind::constant:
        return scalar_source(leaf.constant);
      case NodeKind::gemm_result:
        return operand_source({OperandRole::gemm_result, 0, 0, leaf.shape, false});
      case NodeKind::operand: {
        const auto operand = static_cast<std::size_t>(leaf.operand);
        if (program_.operands[operand].kind == OperandKind::scalar)
          return bound_scalar_source(operand);
        return operand_source({OperandRole::operand, operand, 0, leaf.shape, false});
      }
      case NodeKind::reduction:
        return operand_source(
            {OperandRole::intermediate, 0, intermediates_.at(index), leaf.shape, false});
      case NodeKind::pointwise:
        break;
    }
    throw Error(Status::internal_error, "a computed value is no leaf of a stage");
  }

  std::uint8_t add_scalar(double scalar) {
    if (scalar_count_ == maximum_scalars)
      too_large("constants", static_cast<std::size_t>(scalar_count_) + 1, maximum_scalars);
    planned_.stage.scalars[scalar_count_] = scalar;
    return static_cast<std::uint8_t>(scalar_count_++);
  }

  Source scalar_source(double constant) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &constant, sizeof bits);
    const auto known = constants_.find(bits);
    if (known != constants_.end()) return {SourceKind::scalar, known->second};
    return {SourceKind::scalar, constants_[bits] = add_scalar(constant)};
  }

  Source bound_scalar_source(std::size_t operand) {
    for (const StageScalar& scalar : planned_.scalars)
      if (scalar.operand == operand) return {SourceKind::scalar, scalar.slot};
    const std::uint8_t slot = add_scalar(0);
    planned_.scalars.push_back({slot, operand});
    return {SourceKind::scalar, slot};
  }

  std::size_t add_operand(const StageOperand& operand) {
    if (planned_.operands.size() == static_cast<std::size_t>(maximum_operands))
      too_large("arrays", planned_.operands.size() + 1, maximum_operands);
    planned_.operands.push_back(operand);
    planned_.operands.back().is_written = true;
    return planned_.operands.size() - 1;
  }

  Source operand_source(const StageOperand& operand) {
    for (std::size_t i = 0; i < planned_.operands.size(); ++i) {
      const StageOperand& known = planned_.operands[i];
      if (!known.is_written && known.role == operand.role && known.index == operand.index &&
          known.offset == operand.offset)
        return {SourceKind::operand, i};
    }
    const std::size_t index = add_operand(operand);
    planned_.operands[index].is_written = false;
    return {SourceKind::operand, index};
  }

  std::uint8_t add_reduction(const Value& reduction, std::size_t output) {
    Stage& stage = planned_.stage;
    if (stage.reduction_count == maximum_reductions)
      throw Error(Status::internal_error, "a stage was given more reductions than it can hold");
    stage.reductions[stage.reduction_count] = {
        reduction.reduction, static_cast<std::uint8_t>(output), reduction.parameter};
    return static_cast<std::uint8_t>(stage.reduction_count++);
  }

  void fill_totals() {
    planned_.operation_count = 0;
    for (const Step& step : steps_)
      if (step.target < 0 && !is_leaf(step.value)) ++planned_.operation_count;
  }

  const Program& program_;
  const std::vector<StageTarget>& targets_;
  const Intermediates& intermediates_;
  PlannedStage& planned_;
  int uses_of_y_ = 0;
  int scalar_count_ = 0;
  std::vector<Step> steps_;
  std::map<int, std::size_t> position_of_;
  std::map<int, int> pressure_;
  std::map<int, int> slot_of_;
  std::map<std::uint64_t, std::uint8_t> constants_;
};

}  // namespace

PlannedStage build_stage(const Program& program, const Shape& domain, bool inner_is_rows,
                         SweepKind sweep, const std::vector<StageTarget>& targets,
                         const Intermediates& intermediates) {
  PlannedStage planned;
  planned.sweep = sweep;
  planned.inner_is_rows = inner_is_rows;
  planned.domain = domain;
  planned.stage.batch = domain.batch;
  planned.stage.outer = inner_is_rows ? domain.columns : domain.rows;
  planned.stage.inner = inner_is_rows ? domain.rows : domain.columns;
  StageBuilder(program, targets, intermediates, planned).build();
  return planned;
}

}  // namespace detail
}  // namespace postlude
