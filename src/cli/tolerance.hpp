#ifndef POSTLUDE_CLI_TOLERANCE_HPP
#define POSTLUDE_CLI_TOLERANCE_HPP

#include <postlude.h>

#include <vector>

#include "workload.hpp"

namespace postlude {
namespace cli {

/// The tolerance for results: that of the problem's dtype, as postlude_check
/// chooses it, unless a result is stored in a coarser type, whose rounding alone exceeds it, or the
/// compute mode rounds the inputs to one.
double default_tolerance(const SyntheticArguments& arguments,
                         const std::vector<ResultDescription>& results);

}  // namespace cli
}  // namespace postlude

#endif
