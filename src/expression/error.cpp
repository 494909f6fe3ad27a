#include <postlude/error.hpp>

namespace postlude {

const char* status_name(Status status) noexcept {
  switch (status) {
    case Status::success:
      return "success";
    case Status::invalid_argument:
      return "invalid argument";
    case Status::syntax_error:
      return "syntax error";
    case Status::unknown_name:
      return "unknown name";
    case Status::shape_mismatch:
      return "shape mismatch";
    case Status::missing_operand:
      return "missing operand";
    case Status::unsupported:
      return "unsupported";
    case Status::overlap:
      return "overlap";
    case Status::wrong_memory_space:
      return "wrong memory space";
    case Status::not_initialized:
      return "not initialized";
    case Status::out_of_memory:
      return "out of memory";
    case Status::backend_failure:
      return "backend failure";
    case Status::version_mismatch:
      return "version mismatch";
    case Status::internal_error:
      return "internal error";
  }
  return "unknown status";
}

}  // namespace postlude
