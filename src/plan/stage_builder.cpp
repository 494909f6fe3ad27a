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

/// A value as one stage sees it: with `repeat` above 1, as many neighbouring columns of the domain
/// share one column of the value.
struct Item {
  int value = -1;
  std::int64_t repeat = 1;
  bool operator<(const Item& other) const {
    return value != other.value ? value < other.value : repeat < other.repeat;
  }
  bool operator==(const Item& other) const {
    return value == other.value && repeat == other.repeat;
  }
};

/// One step of the stage before slots are assigned: computes `item`, or gives it to `target`.
struct Step {
  Item item;
  int target = -1;
  bool changes_accumulator() const { return target < 0; }
};

class StageBuilder {
 public:
  StageBuilder(const Program& program, const std::vector<StageTarget>& targets,
               const Intermediates& intermediates, int kept, PlannedStage& planned)
      : program_(program),
        targets_(targets),
        intermediates_(intermediates),
        kept_(kept),
        planned_(planned) {}

  void build() {
    schedule();
    assign_slots();
    emit();
    fill_totals();
  }

 private:
  const Value& value(int index) const { return program_.values[static_cast<std::size_t>(index)]; }

  /// Looks through repeats and expansions, which are no operation but a way to read.
  Item resolve(Item item) const {
    const auto is_way_to_read = [this](int index) {
      const NodeKind kind = value(index).kind;
      return (kind == NodeKind::repeat || kind == NodeKind::expand) &&
             intermediates_.count(index) == 0;
    };
    while (is_way_to_read(item.value)) {
      const std::int64_t factor =
          value(item.value).kind == NodeKind::repeat ? value(item.value).factor : 1;
      item = {value(item.value).inputs[0], item.repeat * factor};
    }
    if (value(item.value).shape.columns == 1) item.repeat = 1;
    return item;
  }

  std::vector<Item> inputs_of(const Item& item) const {
    std::vector<Item> inputs;
    for (const int input : value(item.value).inputs)
      inputs.push_back(resolve({input, item.repeat}));
    return inputs;
  }

  /// Read from memory or from the scalars, not computed by this stage.
  bool is_leaf(const Item& item) const {
    const NodeKind kind = value(item.value).kind;
    return (kind != NodeKind::pointwise && kind != NodeKind::random) ||
           intermediates_.count(item.value) != 0 || is_y(item);
  }

  /// What is in y's place: y, or the value that was kept there.
  bool is_y(const Item& item) const {
    return item.value == kept_ || value(item.value).kind == NodeKind::gemm_result;
  }

  /// y is loaded once even when it is used often: its storage may be overwritten by a result.
  bool is_step(const Item& item) const { return !is_leaf(item) || (is_y(item) && uses_of_y_ > 1); }

  void count_uses_of_y(const Item& item, std::set<Item>& seen) {
    if (is_y(item)) ++uses_of_y_;
    if (is_leaf(item) || !seen.insert(item).second) return;
    for (const Item& input : inputs_of(item)) count_uses_of_y(input, seen);
  }

  /// Registers that evaluating a value takes when nothing is shared (Sethi and Ullman, 1970).
  int pressure(const Item& item) {
    if (is_leaf(item)) return 0;
    const auto known = pressure_.find(item);
    if (known != pressure_.end()) return known->second;
    std::vector<int> needs;
    for (const Item& input : inputs_of(item)) needs.push_back(pressure(input));
    std::sort(needs.rbegin(), needs.rend());
    int result = 1;
    for (std::size_t i = 0; i < needs.size(); ++i)
      result = std::max(result, needs[i] + static_cast<int>(i));
    return pressure_[item] = result;
  }

  void visit(const Item& item) {
    if (!is_step(item) || !visited_.insert(item).second) return;
    if (!is_leaf(item)) {
      std::vector<Item> inputs = inputs_of(item);
      std::stable_sort(inputs.begin(), inputs.end(),
                       [this](const Item& a, const Item& b) { return pressure(a) > pressure(b); });
      for (const Item& input : inputs) visit(input);
    }
    steps_.push_back({item, -1});
  }

  void schedule() {
    std::set<Item> seen;
    for (const StageTarget& target : targets_) count_uses_of_y(resolve({target.value, 1}), seen);
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Item item = resolve({targets_[i].value, 1});
      visit(item);
      steps_.push_back({item, static_cast<int>(i)});
    }
    if (steps_.size() > static_cast<std::size_t>(maximum_instructions))
      too_large("instructions", steps_.size(), maximum_instructions);
  }

  std::vector<Item> used_by(const Step& step) const {
    if (step.target >= 0) return {step.item};
    return is_leaf(step.item) ? std::vector<Item>() : inputs_of(step.item);
  }

  /// A value needs a slot when a later step changes the accumulator before the value's last use.
  void assign_slots() {
    std::map<Item, std::size_t> last_use;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (const Item& input : used_by(steps_[i])) last_use[input] = i;

    std::vector<std::size_t> next_change(steps_.size() + 1, steps_.size());
    for (std::size_t i = steps_.size(); i-- > 0;)
      next_change[i] = steps_[i].changes_accumulator() ? i : next_change[i + 1];

    std::set<int> free_slots;
    for (int slot = 0; slot < maximum_slots; ++slot) free_slots.insert(slot);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (const Item& input : used_by(steps_[i])) {
        const auto slot = slot_of_.find(input);
        if (slot != slot_of_.end() && last_use[input] == i) free_slots.insert(slot->second);
      }
      if (!steps_[i].changes_accumulator()) continue;
      const Item& computed = steps_[i].item;
      if (last_use[computed] <= next_change[i + 1]) continue;
      if (free_slots.empty())
        too_large("values that live at once", static_cast<std::size_t>(maximum_slots) + 1,
                  maximum_slots);
      slot_of_[computed] = *free_slots.begin();
      free_slots.erase(free_slots.begin());
    }
  }

  void emit() {
    Item in_accumulator;
    for (const Step& step : steps_) {
      Instruction instruction;
      if (step.target >= 0) {
        const StageTarget& target = targets_[static_cast<std::size_t>(step.target)];
        instruction.sources[0] = source_of(step.item, in_accumulator);
        const std::size_t output = add_operand(target.output);
        if (target.is_reduction) {
          instruction.action = Action::reduce;
          instruction.target = add_reduction(value(target.reduction), output);
        } else {
          instruction.action = Action::store;
          instruction.target = static_cast<std::uint8_t>(output);
        }
      } else {
        if (is_leaf(step.item)) {
          instruction.action = Action::load;
          instruction.sources[0] = leaf_source(step.item);
        } else {
          compute(step.item, in_accumulator, instruction);
        }
        in_accumulator = step.item;
        const auto slot = slot_of_.find(step.item);
        if (slot != slot_of_.end()) instruction.slot = static_cast<std::uint8_t>(slot->second);
      }
      planned_.stage.instructions[planned_.stage.instruction_count++] = instruction;
    }
  }

  void compute(const Item& item, const Item& in_accumulator, Instruction& instruction) {
    static constexpr Action actions[] = {Action::unary, Action::binary, Action::ternary};
    const std::vector<Item> inputs = inputs_of(item);
    if (value(item.value).kind == NodeKind::random) {
      instruction.action = Action::random;
      instruction.sources[0] = operand_source(
          {OperandRole::position, 0, 0, value(item.value).shape, false, item.repeat});
      instruction.sources[1] = leaf_source(inputs[0]);
      return;
    }
    instruction.action = actions[inputs.size() - 1];
    instruction.operation = value(item.value).operation;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      instruction.sources[i] = source_of(inputs[i], in_accumulator);
  }

  Source source_of(const Item& item, const Item& in_accumulator) {
    if (item == in_accumulator) return {SourceKind::accumulator, 0};
    if (!is_step(item)) return leaf_source(item);
    return {SourceKind::slot, static_cast<std::size_t>(slot_of_.at(item))};
  }

  Source leaf_source(const Item& item) {
    const Value& leaf = value(item.value);
    const auto intermediate = intermediates_.find(item.value);
    if (intermediate != intermediates_.end())
      return operand_source({leaf.kind == NodeKind::gemm_factors ? OperandRole::gemm_factors
                                                                 : OperandRole::intermediate,
                             0, intermediate->second, leaf.shape, false, item.repeat});
    if (is_y(item))
      return operand_source({OperandRole::gemm_result, 0, 0, leaf.shape, false, item.repeat});
    switch (leaf.kind) {
      case NodeKind::constant:
        return scalar_source(leaf.constant);
      case NodeKind::operand: {
        const auto operand = static_cast<std::size_t>(leaf.operand);
        if (program_.operands[operand].kind == OperandKind::scalar)
          return bound_scalar_source(operand);
        return operand_source({OperandRole::operand, operand, 0, leaf.shape, false, item.repeat});
      }
      default:
        throw Error(Status::internal_error, "a stage needs a value that no earlier stage computed");
    }
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
          known.offset == operand.offset && known.repeat == operand.repeat &&
          known.shape == operand.shape)
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
      if (step.target < 0 && !is_leaf(step.item)) ++planned_.operation_count;
  }

  const Program& program_;
  const std::vector<StageTarget>& targets_;
  const Intermediates& intermediates_;
  int kept_;  ///< a value that is where y was, -1 for none
  PlannedStage& planned_;
  int uses_of_y_ = 0;
  int scalar_count_ = 0;
  std::vector<Step> steps_;
  std::set<Item> visited_;
  std::map<Item, int> pressure_;
  std::map<Item, int> slot_of_;
  std::map<std::uint64_t, std::uint8_t> constants_;
};

}  // namespace

PlannedStage build_stage(const Program& program, const StageDomain& domain, SweepKind sweep,
                         const std::vector<StageTarget>& targets,
                         const Intermediates& intermediates, int kept) {
  const Shape& shape = domain.shape;
  PlannedStage planned;
  planned.sweep = sweep;
  planned.inner_is_rows = domain.inner_is_rows;
  planned.domain = shape;
  planned.window_count = domain.window_count;
  planned.window_size = domain.window_size;
  planned.window_step = domain.window_step;
  Stage& stage = planned.stage;
  if (domain.window_count == 0) {
    stage.batch = shape.batch;
    stage.outer = domain.inner_is_rows ? shape.columns : shape.rows;
    stage.inner = domain.inner_is_rows ? shape.rows : shape.columns;
  } else {
    // Window by window: each is a matrix of its own, as wide as the window.
    stage.parts = domain.inner_is_rows ? domain.window_count : shape.rows;
    stage.batch = shape.batch * stage.parts;
    stage.outer = domain.inner_is_rows ? domain.window_size : domain.window_count;
    stage.inner = domain.inner_is_rows ? shape.rows : domain.window_size;
  }
  StageBuilder(program, targets, intermediates, kept, planned).build();
  return planned;
}

}  // namespace detail
}  // namespace postlude
