#ifndef POSTLUDE_PERF_SUITE_HPP
#define POSTLUDE_PERF_SUITE_HPP

#include <vector>

#include <postlude/execution_space.hpp>

#include "case.hpp"
#include "options.hpp"

namespace postlude {
namespace perf {

/// Measures the selected cases with every selected peer, checks each result before it is timed, and
/// writes the results. False when one of Postlude's is outside its tolerance or could not be had.
bool run_suite(const Options& options, const ExecutionSpace& space, const std::vector<Case>& cases);

}  // namespace perf
}  // namespace postlude

#endif
