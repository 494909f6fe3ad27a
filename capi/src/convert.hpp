#ifndef POSTLUDE_CAPI_CONVERT_HPP
#define POSTLUDE_CAPI_CONVERT_HPP

#include <postlude.h>

#include <postlude/problem.hpp>
#include <postlude/tensor.hpp>

#include <cstdint>

#include "argument_name.hpp"

namespace postlude {
namespace detail {
namespace capi {

// Conversions from the C interface's numbers and structs. Each throws Error(invalid_argument) with
// `argument`, the value and what was expected for anything that is not a value of its type. What
// depends on a problem or a plan is validated there.

DataType to_data_type(postlude_dtype value, const ArgumentName& argument);
MemorySpace to_memory_space(postlude_memory_space value, const ArgumentName& argument);
ComputeMode to_compute_mode(postlude_compute_mode value, const ArgumentName& argument);
OperandKind to_operand_kind(postlude_operand_kind value, const ArgumentName& argument);
/// The layout of one matrix, which is not `any`.
ResultLayout to_matrix_layout(postlude_layout value, const ArgumentName& argument);
/// The layout that a plan's results will have.
ResultLayout to_result_layout(postlude_layout value, const ArgumentName& argument);
StageCompilation to_compilation(postlude_compilation value, const ArgumentName& argument);
/// 0 or 1.
bool to_flag(std::int32_t value, const ArgumentName& argument);

void require_extent(std::int64_t value, const ArgumentName& argument);

/// A tensor that is a member of another struct, or an argument of its own. Errors also
/// Error(version_mismatch) when its size is not the library's.
Tensor to_tensor(const postlude_tensor& tensor, const ArgumentName& argument);

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
