#ifndef POSTLUDE_CLI_TOLERANCE_HPP
#define POSTLUDE_CLI_TOLERANCE_HPP

#include <postlude.h>

#include <vector>

#include "workload.hpp"

namespace postlude {
namespace cli {

/// The tolerance for results of a problem of `dtype`: that of the problem, as postlude_check
/// chooses it, unless a result is stored in a coarser type, whose rounding alone exceeds it.
double default_tolerance(postlude_dtype dtype, const std::vector<ResultDescription>& results);

}  // namespace cli
}  // namespace postlude

#endif
