#ifndef POSTLUDE_EXECUTE_PROBLEM_SHAPE_HPP
#define POSTLUDE_EXECUTE_PROBLEM_SHAPE_HPP

#include <postlude/problem.hpp>

#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// The GEMM of a linear problem, without y's strides. Throws Error(shape_mismatch, unsupported,
/// invalid_argument) when x and w do not make a linear layer that can be computed.
GemmProblem gemm_problem(Backend backend, const LinearProblem& problem);

}  // namespace detail
}  // namespace postlude

#endif
