#ifndef POSTLUDE_CHECK_HPP
#define POSTLUDE_CHECK_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <postlude/plan.hpp>

namespace postlude {

/// How one result compared with the float64 reference. Since: 0.1.
struct CheckResult {
  std::string name;           ///< of the result
  std::int64_t elements = 0;  ///< compared
  /// Elements with |out - ref| > tolerance + tolerance * |ref|, or whose NaN or infinity differs.
  std::int64_t violations = 0;
  /// Largest |out - ref|; infinite when a NaN or an infinity differs.
  double largest_absolute_error = 0;
  /// Largest |out - ref| / |ref| over the elements with |ref| > tolerance.
  double largest_relative_error = 0;
  double tolerance = 0;  ///< that was used, absolute and relative
};

/// The tolerance of a dtype, absolute and relative: 1e-4 for float32, 1e-11 for float64, 1e-2 for
/// float16 and bfloat16. Since: 0.1.
double default_tolerance(DataType dtype) noexcept;

/// Compares outputs with the float64 reference evaluator.
///
/// `arguments` are host tensors, executed before with `plan`; the reference recomputes everything
/// from x, w and the bindings in float64. `tolerance` is absolute and relative; 0 selects
/// default_tolerance() for each result: of the problem's dtype (the mode f32_fast_tf32 counts as
/// float16) or the output's, whichever is coarser; for an index, the problem's.
/// Runs on all host threads; takes 2*M*N*K float64 operations. Errors: Error(invalid_argument) for
/// tensors in device memory, and for a tolerance that is negative or not finite. Threads: safe.
/// Since: 0.1.
std::vector<CheckResult> compare_with_reference(const Plan& plan, const Arguments& arguments,
                                                double tolerance = 0);

}  // namespace postlude

#endif
