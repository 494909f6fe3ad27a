#ifndef POSTLUDE_EVALUATOR_STAGE_HPP
#define POSTLUDE_EVALUATOR_STAGE_HPP

#include <cstddef>
#include <cstdint>

#include <postlude/data_type.hpp>
#include <postlude/operation_table.hpp>

#include "evaluator/function.hpp"

namespace postlude {
namespace detail {

// What a stage may hold. Together they keep sizeof(Stage) below 4 KB, the limit of a kernel's
// arguments on CUDA, so that a stage travels by value and needs no memory of its own.
constexpr int maximum_instructions = 120;
constexpr int maximum_scalars = 48;
constexpr int maximum_operands = 28;
constexpr int maximum_slots = 12;
constexpr int maximum_reductions = 4;

/// Where an instruction takes a value from. `accumulator` is the result of the previous
/// instruction: a chain of operations never leaves the registers.
enum class SourceKind : std::uint8_t { accumulator, slot, scalar, operand };

/// One byte, so that an instruction is one 8-byte load.
class Source {
 public:
  constexpr Source() = default;
  POSTLUDE_FUNCTION constexpr Source(SourceKind kind, std::size_t index)
      : bits_(static_cast<std::uint8_t>(static_cast<std::size_t>(kind) << 6 | index)) {}

  POSTLUDE_FUNCTION constexpr SourceKind kind() const {
    return static_cast<SourceKind>(bits_ >> 6);
  }
  POSTLUDE_FUNCTION constexpr int index() const { return bits_ & 63; }

 private:
  std::uint8_t bits_ = 0;
};

static_assert(maximum_slots <= 64 && maximum_scalars <= 64 && maximum_operands <= 64,
              "an index of a source has 6 bits");

/// What an instruction does with its sources.
enum class Action : std::uint8_t {
  load,     ///< accumulator = source 0
  unary,    ///< accumulator = operation(source 0)
  binary,   ///< accumulator = operation(source 0, source 1)
  ternary,  ///< accumulator = operation(source 0, source 1, source 2)
  store,    ///< operand `target` = source 0, accumulator unchanged
  reduce,   ///< reduction `target` takes source 0, accumulator unchanged
  random  ///< accumulator = uniform numbers of the elements that source 0 counts, seed in source 1
};

struct alignas(8) Instruction {
  static constexpr std::uint8_t no_slot = 0xff;

  Action action = Action::load;
  Operation operation = Operation::add;
  std::uint8_t slot = no_slot;  ///< slot that also keeps the new accumulator
  std::uint8_t target = 0;
  Source sources[3];
};

/// A strided array in memory as a stage sees it; a stride of 0 broadcasts. With a divisor above 1
/// as many neighbours along that dimension share one element. Positions, which count elements, have
/// the index of the first for an address.
struct OperandAccess {
  void* data = nullptr;
  std::int64_t stride_batch = 0;
  std::int64_t stride_part = 0;
  std::int64_t stride_outer = 0;
  std::int64_t stride_inner = 0;
  std::int32_t outer_divisor = 1;
  std::int32_t inner_divisor = 1;
  DataType dtype = DataType::float32;
};

struct StageReduction {
  Reduction kind = Reduction::sum;
  std::uint8_t output = 0;  ///< operand that receives the results
  double parameter = 0;     ///< p of norm, correction of var and std
};

/// What a device has to have found out before a stage is run on it; without a word, nothing.
struct RunCondition {
  const int* word = nullptr;  ///< in the device's memory, written earlier on the same queue
  int wanted = 0;

  POSTLUDE_FUNCTION bool holds() const { return word == nullptr || *word == wanted; }
};

/// A piece of a program that one sweep runs over a domain of batch x outer x inner elements:
/// pointwise instructions whose values are stored or fed to reductions along one dimension.
///
/// `inner` is the dimension along which y is contiguous, so that one loop order serves row-major
/// and column-major data. `batch` counts parts of batches: of a batched problem's matrices, and of
/// the windows of a reduction over windows, of which each batch has `parts`.
struct Stage {
  std::int64_t batch = 1;
  std::int64_t parts = 1;
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  std::int32_t instruction_count = 0;
  std::int32_t reduction_count = 0;
  Instruction instructions[maximum_instructions];
  double scalars[maximum_scalars] = {};
  OperandAccess operands[maximum_operands];
  StageReduction reductions[maximum_reductions];
  RunCondition condition;  ///< else every thread of a device leaves at once
};

static_assert(sizeof(Instruction) == 8, "an instruction is one 8-byte load");
static_assert(sizeof(Stage) <= 3584, "a stage must fit a kernel's arguments beside its policy");

}  // namespace detail
}  // namespace postlude

#endif
