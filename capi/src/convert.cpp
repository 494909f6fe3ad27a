#include "convert.hpp"

#include <postlude/backend.hpp>
#include <postlude/error.hpp>

namespace postlude {
namespace detail {
namespace capi {
namespace {

/// Casts a number of the C interface to the C++ enumeration with the same values.
template <class Enumeration>
Enumeration to_enumeration(std::int32_t value, Enumeration first, Enumeration last,
                           const ArgumentName& argument, const char* expected) {
  if (value < static_cast<std::int32_t>(first) || value > static_cast<std::int32_t>(last))
    throw Error(Status::invalid_argument,
                argument.text() + " is " + std::to_string(value) + ": expected " + expected);
  return static_cast<Enumeration>(value);
}

template <class Enumeration>
constexpr bool equal(std::int32_t number, Enumeration value) {
  return number == static_cast<std::int32_t>(value);
}

static_assert(equal(POSTLUDE_FLOAT64, DataType::float64), "");
static_assert(equal(POSTLUDE_FLOAT32, DataType::float32), "");
static_assert(equal(POSTLUDE_FLOAT16, DataType::float16), "");
static_assert(equal(POSTLUDE_BFLOAT16, DataType::bfloat16), "");
static_assert(equal(POSTLUDE_INT64, DataType::int64), "");
static_assert(equal(POSTLUDE_HOST, MemorySpace::host), "");
static_assert(equal(POSTLUDE_DEVICE, MemorySpace::device), "");
static_assert(equal(POSTLUDE_SHARED, MemorySpace::shared), "");
static_assert(equal(POSTLUDE_BACKEND_SERIAL, Backend::serial), "");
static_assert(equal(POSTLUDE_BACKEND_OPENMP, Backend::openmp), "");
static_assert(equal(POSTLUDE_BACKEND_THREADS, Backend::threads), "");
static_assert(equal(POSTLUDE_BACKEND_CUDA, Backend::cuda), "");
static_assert(equal(POSTLUDE_BACKEND_HIP, Backend::hip), "");
static_assert(equal(POSTLUDE_BACKEND_SYCL, Backend::sycl), "");
static_assert(equal(POSTLUDE_COMPUTE_AUTOMATIC, ComputeMode::automatic), "");
static_assert(equal(POSTLUDE_COMPUTE_F64, ComputeMode::f64), "");
static_assert(equal(POSTLUDE_COMPUTE_F32, ComputeMode::f32), "");
static_assert(equal(POSTLUDE_COMPUTE_F32_EMULATED_F16X3, ComputeMode::f32_emulated_f16x3), "");
static_assert(equal(POSTLUDE_COMPUTE_F32_FAST_TF32, ComputeMode::f32_fast_tf32), "");
static_assert(equal(POSTLUDE_SCALAR, OperandKind::scalar), "");
static_assert(equal(POSTLUDE_ROW, OperandKind::row), "");
static_assert(equal(POSTLUDE_COLUMN, OperandKind::column), "");
static_assert(equal(POSTLUDE_MATRIX, OperandKind::matrix), "");
static_assert(equal(POSTLUDE_ELEMENT, OperandKind::element), "");
static_assert(equal(POSTLUDE_COMPILATION_AUTOMATIC, StageCompilation::automatic), "");
static_assert(equal(POSTLUDE_COMPILATION_NEVER, StageCompilation::never), "");
static_assert(equal(POSTLUDE_COMPILATION_ALWAYS, StageCompilation::always), "");
static_assert(equal(POSTLUDE_ROW_MAJOR, ResultLayout::row_major), "");
static_assert(equal(POSTLUDE_COLUMN_MAJOR, ResultLayout::column_major), "");
static_assert(equal(POSTLUDE_ANY_LAYOUT, ResultLayout::any), "");

}  // namespace

DataType to_data_type(postlude_dtype value, const ArgumentName& argument) {
  return to_enumeration(value, DataType::float64, DataType::int64, argument,
                        "a postlude_dtype, POSTLUDE_FLOAT64 (1) to POSTLUDE_INT64 (5)");
}

MemorySpace to_memory_space(postlude_memory_space value, const ArgumentName& argument) {
  return to_enumeration(
      value, MemorySpace::host, MemorySpace::shared, argument,
      "a postlude_memory_space, POSTLUDE_HOST (1), POSTLUDE_DEVICE (2) or POSTLUDE_SHARED (3)");
}

ComputeMode to_compute_mode(postlude_compute_mode value, const ArgumentName& argument) {
  return to_enumeration(value, ComputeMode::automatic, ComputeMode::f32_fast_tf32, argument,
                        "a postlude_compute_mode, POSTLUDE_COMPUTE_AUTOMATIC (0) to "
                        "POSTLUDE_COMPUTE_F32_FAST_TF32 (4)");
}

OperandKind to_operand_kind(postlude_operand_kind value, const ArgumentName& argument) {
  return to_enumeration(value, OperandKind::scalar, OperandKind::element, argument,
                        "a postlude_operand_kind, POSTLUDE_SCALAR (1) to POSTLUDE_ELEMENT (5)");
}

ResultLayout to_matrix_layout(postlude_layout value, const ArgumentName& argument) {
  return to_enumeration(value, ResultLayout::row_major, ResultLayout::column_major, argument,
                        "POSTLUDE_ROW_MAJOR (1) or POSTLUDE_COLUMN_MAJOR (2)");
}

ResultLayout to_result_layout(postlude_layout value, const ArgumentName& argument) {
  return to_enumeration(
      value, ResultLayout::row_major, ResultLayout::any, argument,
      "POSTLUDE_ROW_MAJOR (1), POSTLUDE_COLUMN_MAJOR (2) or POSTLUDE_ANY_LAYOUT (3)");
}

StageCompilation to_compilation(postlude_compilation value, const ArgumentName& argument) {
  return to_enumeration(value, StageCompilation::automatic, StageCompilation::always, argument,
                        "a postlude_compilation, POSTLUDE_COMPILATION_AUTOMATIC (0) to "
                        "POSTLUDE_COMPILATION_ALWAYS (2)");
}

bool to_flag(std::int32_t value, const ArgumentName& argument) {
  if (value != 0 && value != 1)
    throw Error(Status::invalid_argument,
                argument.text() + " is " + std::to_string(value) + ": expected 0 or 1");
  return value == 1;
}

void require_extent(std::int64_t value, const ArgumentName& argument) {
  if (value < 0)
    throw Error(Status::invalid_argument,
                argument.text() + " is " + std::to_string(value) + ": expected 0 or more");
}

Tensor to_tensor(const postlude_tensor& tensor, const ArgumentName& argument) {
  if (tensor.size != sizeof(postlude_tensor))
    throw Error(Status::version_mismatch,
                argument.text() + ".size is " + std::to_string(tensor.size) +
                    " and the library's is " + std::to_string(sizeof(postlude_tensor)) +
                    ": expected sizeof(postlude_tensor), as POSTLUDE_TENSOR_INIT sets it");
  Tensor converted;
  converted.data = tensor.data;
  converted.dtype = to_data_type(tensor.dtype, argument.member("dtype"));
  if (tensor.rank < 1 || tensor.rank > 3)
    throw Error(Status::invalid_argument, argument.text() + ".rank is " +
                                              std::to_string(tensor.rank) + ": expected 1, 2 or 3");
  converted.rank = tensor.rank;
  for (int dimension = 0; dimension < tensor.rank; ++dimension) {
    require_extent(tensor.extent[dimension], argument.member("extent", dimension));
    converted.extent[dimension] = tensor.extent[dimension];
    converted.stride[dimension] = tensor.stride[dimension];
  }
  converted.memory_space = to_memory_space(tensor.memory_space, argument.member("memory_space"));
  if (tensor.reserved != 0)
    throw Error(Status::invalid_argument, argument.text() + ".reserved is " +
                                              std::to_string(tensor.reserved) + ": expected 0");
  return converted;
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude
