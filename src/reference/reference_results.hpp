#ifndef POSTLUDE_REFERENCE_REFERENCE_RESULTS_HPP
#define POSTLUDE_REFERENCE_REFERENCE_RESULTS_HPP

#include <vector>

#include <postlude/plan.hpp>

#include "reference/reference.hpp"

namespace postlude {
namespace detail {
namespace reference {

/// The elements of a host tensor as a batch of matrices of this shape.
Array read(const Tensor& tensor, const Shape& shape, bool is_batched = false);

/// What a program reads, in float64.
struct ProgramInputs {
  Array y;                      ///< empty when the program does not use it
  std::vector<Array> operands;  ///< empty where an operand is not used
};

/// The inputs that an execution of `plan` with these host tensors has. The outputs are validated
/// with the rest, but not read. Throws Error, as Plan::execute does, and Error(wrong_memory_space)
/// for tensors that the host cannot reach.
ProgramInputs program_inputs(const Plan& plan, const Arguments& arguments);

struct ReferenceResult {
  Array value;
  /// For an index: the elements that were searched, and the dimension. Two elements that differ by
  /// rounding errors only are both right answers.
  bool is_index = false;
  int dim = 0;
  Array searched;
};

/// What an execution of `plan` with these host tensors must give; errors as program_inputs().
std::vector<ReferenceResult> expected_results(const Plan& plan, const Arguments& arguments);

}  // namespace reference
}  // namespace detail
}  // namespace postlude

#endif
