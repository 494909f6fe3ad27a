#include "gemm/vendor_epilogue.hpp"

namespace postlude {
namespace detail {
namespace {

/// What the accumulator holds after an instruction, as far as it is a beginning of an epilogue.
enum class Held { nothing, y, biased };

/// Follows the instructions of a stage.
class Reading {
 public:
  Reading(const PlannedStage& planned, const Stage& stage) : planned_(planned), stage_(stage) {}

  std::optional<VendorEpilogue> read() {
    if (planned_.sweep != SweepKind::pointwise || planned_.window_count > 0 ||
        stage_.instruction_count < 1)
      return {};
    for (int i = 0; i + 1 < stage_.instruction_count; ++i)
      if (!follow(stage_.instructions[i])) return {};
    if (!follow_store(stage_.instructions[stage_.instruction_count - 1])) return {};
    return epilogue_;
  }

 private:
  const StageOperand& operand_of(const Source& source) const {
    return planned_.operands[static_cast<std::size_t>(source.index())];
  }

  bool is_y(const Source& source) const {
    return source.kind() == SourceKind::operand &&
           operand_of(source).role == OperandRole::gemm_result;
  }

  /// What a source holds.
  Held held(const Source& source) const {
    if (source.kind() == SourceKind::accumulator) return held_;
    return is_y(source) ? Held::y : Held::nothing;
  }

  bool follow(const Instruction& instruction) {
    if (instruction.slot != Instruction::no_slot) return false;
    switch (instruction.action) {
      case Action::load:
        if (!is_y(instruction.sources[0])) return false;
        held_ = Held::y;
        return true;
      case Action::binary:
        return follow_bias(instruction.operation, instruction.sources[0], instruction.sources[1]) ||
               follow_bias(instruction.operation, instruction.sources[1], instruction.sources[0]);
      default:
        return false;
    }
  }

  bool follow_bias(Operation operation, const Source& y, const Source& bias) {
    if (operation != Operation::add || held(y) != Held::y || bias.kind() != SourceKind::operand ||
        operand_of(bias).role != OperandRole::operand)
      return false;
    const OperandAccess& access = stage_.operands[bias.index()];
    if (access.stride_inner != 1 || access.stride_outer != 0 || access.stride_part != 0 ||
        (stage_.batch > 1 && access.stride_batch != 0) || access.inner_divisor != 1 ||
        access.outer_divisor != 1)
      return false;
    epilogue_.has_bias = true;
    epilogue_.bias = access.data;
    epilogue_.is_bias_of_rows = planned_.inner_is_rows;
    bias_dtype_ = access.dtype;
    held_ = Held::biased;
    return true;
  }

  bool follow_store(const Instruction& instruction) {
    if (instruction.action != Action::store || held(instruction.sources[0]) == Held::nothing)
      return false;
    const StageOperand& operand = planned_.operands[instruction.target];
    const OperandAccess& access = stage_.operands[instruction.target];
    if (operand.role != OperandRole::result || (epilogue_.has_bias && access.dtype != bias_dtype_))
      return false;
    epilogue_.result = access.data;
    epilogue_.dtype = access.dtype;
    epilogue_.strides.batch = access.stride_batch;
    epilogue_.strides.row = planned_.inner_is_rows ? access.stride_inner : access.stride_outer;
    epilogue_.strides.column = planned_.inner_is_rows ? access.stride_outer : access.stride_inner;
    return true;
  }

  const PlannedStage& planned_;
  const Stage& stage_;
  VendorEpilogue epilogue_;
  DataType bias_dtype_ = DataType::float32;
  Held held_ = Held::nothing;
};

}  // namespace

std::optional<VendorEpilogue> as_vendor_epilogue(const PlannedStage& planned, const Stage& bound) {
  return Reading(planned, bound).read();
}

std::string to_string(const VendorEpilogue& epilogue) {
  return epilogue.has_bias ? "bias" : "the conversion of y";
}

}  // namespace detail
}  // namespace postlude
