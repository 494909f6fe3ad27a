#include <postlude.h>

#include <postlude/error.hpp>

namespace {

constexpr bool equal(postlude_status number, postlude::Status status) {
  return number == static_cast<postlude_status>(status);
}

// Statuses cross the boundary by a cast.
static_assert(equal(POSTLUDE_SUCCESS, postlude::Status::success), "");
static_assert(equal(POSTLUDE_INVALID_ARGUMENT, postlude::Status::invalid_argument), "");
static_assert(equal(POSTLUDE_SYNTAX_ERROR, postlude::Status::syntax_error), "");
static_assert(equal(POSTLUDE_UNKNOWN_NAME, postlude::Status::unknown_name), "");
static_assert(equal(POSTLUDE_SHAPE_MISMATCH, postlude::Status::shape_mismatch), "");
static_assert(equal(POSTLUDE_MISSING_OPERAND, postlude::Status::missing_operand), "");
static_assert(equal(POSTLUDE_UNSUPPORTED, postlude::Status::unsupported), "");
static_assert(equal(POSTLUDE_OVERLAP, postlude::Status::overlap), "");
static_assert(equal(POSTLUDE_WRONG_MEMORY_SPACE, postlude::Status::wrong_memory_space), "");
static_assert(equal(POSTLUDE_NOT_INITIALIZED, postlude::Status::not_initialized), "");
static_assert(equal(POSTLUDE_OUT_OF_MEMORY, postlude::Status::out_of_memory), "");
static_assert(equal(POSTLUDE_BACKEND_FAILURE, postlude::Status::backend_failure), "");
static_assert(equal(POSTLUDE_VERSION_MISMATCH, postlude::Status::version_mismatch), "");
static_assert(equal(POSTLUDE_INTERNAL_ERROR, postlude::Status::internal_error), "");

}  // namespace

const char* postlude_status_name(postlude_status status) {
  return postlude::status_name(static_cast<postlude::Status>(status));
}
