#include "plan/kept_value.hpp"

#include <algorithm>

namespace postlude {
namespace detail {
namespace {

/// Whether a host takes tens of cycles for an element, even with vectors.
bool is_slow(const Value& value) {
  if (value.kind == NodeKind::random) return true;
  if (value.kind != NodeKind::pointwise) return false;
  switch (value.operation) {
    case Operation::exp:
    case Operation::expm1:
    case Operation::log:
    case Operation::log1p:
    case Operation::power:
    case Operation::sin:
    case Operation::cos:
    case Operation::erf:
    case Operation::tanh:
    case Operation::elu:
    case Operation::selu:
    case Operation::celu:
    case Operation::gelu:
    case Operation::gelu_tanh:
    case Operation::silu:
    case Operation::sigmoid:
    case Operation::logsigmoid:
    case Operation::softplus:
    case Operation::mish:
      return true;
    default:
      return false;
  }
}

class Search {
 public:
  Search(const Program& program, const std::vector<VisitedValues>& stages)
      : program_(program), stages_(stages) {}

  KeptValue find() const {
    std::vector<std::size_t> readers;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!any_of(stages_[i], [&](const Value& value) { return is_y(value); })) continue;
      if (stages_[i].domain != program_.y || stages_[i].window_size > 0) return {};
      readers.push_back(i);
    }
    if (readers.size() < 2 || is_y_wanted()) return {};
    // The last one spares the later stages most.
    for (int value = static_cast<int>(program_.values.size()) - 1; value >= 0; --value)
      if (is_worth_keeping(value, readers)) return {value, readers.front()};
    return {};
  }

 private:
  const Value& at(int index) const { return program_.values[static_cast<std::size_t>(index)]; }
  static bool is_y(const Value& value) { return value.kind == NodeKind::gemm_result; }

  /// Whether a result is y itself.
  bool is_y_wanted() const {
    return std::any_of(program_.results.begin(), program_.results.end(),
                       [&](const ProgramResult& result) { return is_y(at(result.value)); });
  }

  /// Whether something holds of a value that a stage computes or reads on its way, with all that
  /// it is made of. What lies behind `end` does not count.
  template <class Condition>
  bool any_of(const VisitedValues& stage, const Condition& condition, int end = -1) const {
    std::vector<bool> seen(program_.values.size(), false);
    std::vector<int> open = stage.values;
    while (!open.empty()) {
      const int index = open.back();
      open.pop_back();
      if (index == end || seen[static_cast<std::size_t>(index)]) continue;
      seen[static_cast<std::size_t>(index)] = true;
      const Value& value = at(index);
      if (condition(value)) return true;
      // An earlier stage has reduced it.
      if (value.kind == NodeKind::reduction) continue;
      open.insert(open.end(), value.inputs.begin(), value.inputs.end());
    }
    return false;
  }

  bool is_worth_keeping(int index, const std::vector<std::size_t>& readers) const {
    const Value& value = at(index);
    if (value.kind != NodeKind::pointwise || value.shape != program_.y) return false;
    const VisitedValues itself{program_.y, 0, {index}};
    if (!any_of(itself, is_y) || !any_of(itself, is_slow)) return false;
    for (const std::size_t reader : readers) {
      const VisitedValues& stage = stages_[reader];
      const auto is_it = [&](const Value& each) { return &each == &value; };
      if (!any_of(stage, is_it)) return false;
      if (reader != readers.front() && any_of(stage, is_y, index)) return false;
    }
    return true;
  }

  const Program& program_;
  const std::vector<VisitedValues>& stages_;
};

}  // namespace

KeptValue find_kept_value(const Program& program, const std::vector<VisitedValues>& stages) {
  return Search(program, stages).find();
}

}  // namespace detail
}  // namespace postlude
