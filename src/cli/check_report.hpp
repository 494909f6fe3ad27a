#ifndef POSTLUDE_CLI_CHECK_REPORT_HPP
#define POSTLUDE_CLI_CHECK_REPORT_HPP

#include <postlude.h>

#include <string>
#include <vector>

#include "workload.hpp"

namespace postlude {
namespace cli {

/// True when no element of any result is outside the tolerance.
bool is_within_tolerance(const std::vector<postlude_check_result>& checks);

/// A table with one line per result, and the verdict.
std::string check_report(const std::vector<ResultDescription>& results,
                         const std::vector<postlude_check_result>& checks);

}  // namespace cli
}  // namespace postlude

#endif
