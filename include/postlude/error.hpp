#ifndef POSTLUDE_ERROR_HPP
#define POSTLUDE_ERROR_HPP

#include <stdexcept>
#include <string>

namespace postlude {

/// What kind of failure an Error reports. The values equal those of `postlude_status` in the C
/// interface and are never renumbered.
///
/// Since: 0.1.
enum class Status : int {
  success = 0,
  invalid_argument = 1,    ///< an argument is null, out of range, misaligned or contradictory
  syntax_error = 2,        ///< the expression text does not follow the grammar
  unknown_name = 3,        ///< a name in the expression, a binding or an option is not known
  shape_mismatch = 4,      ///< shapes or strides do not fit together
  missing_operand = 5,     ///< an operand of the plan was not bound
  unsupported = 6,         ///< a valid request that this build, backend or engine cannot serve
  overlap = 7,             ///< an output overlaps an input, another output, the workspace or itself
  wrong_memory_space = 8,  ///< memory that the backend cannot reach
  not_initialized = 9,     ///< Kokkos is not initialised, or already finalised
  out_of_memory = 10,      ///< an allocation failed
  backend_failure = 11,    ///< the backend (CUDA, BLAS, ...) reported a failure
  version_mismatch = 12,   ///< a struct of another size or an incompatible library version
  internal_error = 13      ///< a defect of Postlude itself
};

/// The constant text that names a status, for example "shape mismatch". Never null.
///
/// Threads: safe. Since: 0.1.
const char* status_name(Status status) noexcept;

/// The exception that every failing Postlude call throws in C++.
///
/// `what()` names the argument, its value and what was expected. For a fault in an expression it
/// contains the offending line and a caret under the column. Outputs are untouched by a call that
/// throws before it has launched work, which is the case for all statuses but `backend_failure`.
///
/// Since: 0.1.
class Error : public std::runtime_error {
 public:
  /// An error with the text that what() returns.
  Error(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}

  /// The kind of failure.
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace postlude

#endif
