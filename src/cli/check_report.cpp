#include "check_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "element_type.hpp"

namespace postlude {
namespace cli {

bool is_within_tolerance(const std::vector<postlude_check_result>& checks) {
  return std::all_of(checks.begin(), checks.end(),
                     [](const postlude_check_result& check) { return check.violations == 0; });
}

namespace {

/// "0.0001", or "0.0001 to 0.01" where results of a plan are of several types.
std::string tolerance_text(const std::vector<postlude_check_result>& checks) {
  const auto [least, largest] =
      std::minmax_element(checks.begin(), checks.end(),
                          [](const auto& a, const auto& b) { return a.tolerance < b.tolerance; });
  if (least->tolerance == largest->tolerance) return fmt::format("{}", least->tolerance);
  return fmt::format("{} to {}", least->tolerance, largest->tolerance);
}

}  // namespace

std::string check_report(const std::vector<ResultDescription>& results,
                         const std::vector<postlude_check_result>& checks) {
  std::size_t width = 6;
  for (const ResultDescription& result : results) width = std::max(width, result.name.size());
  std::string text = fmt::format("{:<{}}  {:<8}  {:>12}  {:>14}  {:>14}  {:>10}\n", "result", width,
                                 "dtype", "elements", "largest abs", "largest rel", "violations");
  std::int64_t violations = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    text += fmt::format("{:<{}}  {:<8}  {:>12}  {:>14.3e}  {:>14.3e}  {:>10}\n", results[i].name,
                        width, element_name(results[i].dtype), checks[i].elements,
                        checks[i].largest_absolute_error, checks[i].largest_relative_error,
                        checks[i].violations);
    violations += checks[i].violations;
  }
  const std::string limit = fmt::format("{} absolute + relative", tolerance_text(checks));
  text += violations == 0
              ? fmt::format("passed (tolerance: {})\n", limit)
              : fmt::format("failed: {} elements outside the tolerance ({})\n", violations, limit);
  return text;
}

}  // namespace cli
}  // namespace postlude
