#ifndef POSTLUDE_EXECUTE_PROBLEM_SHAPE_HPP
#define POSTLUDE_EXECUTE_PROBLEM_SHAPE_HPP

#include <postlude/problem.hpp>

#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// The GEMM of a linear problem, without y's strides. Throws Error(shape_mismatch, unsupported,
/// invalid_argument) when x and w do not make a linear layer that can be computed.
GemmProblem gemm_problem(Backend backend, const LinearProblem& problem);

/// Throws Error unless the tensor has a known dtype, a rank of 1 to 3 and extents whose number of
/// bytes fits in 62 bits. `name` is the argument's name for the message.
void require_valid_description(const Tensor& tensor, const std::string& name);

/// "128x64" with the extents of the tensor.
std::string extents_text(const Tensor& tensor);

}  // namespace detail
}  // namespace postlude

#endif
