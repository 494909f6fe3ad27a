#ifndef POSTLUDE_PLAN_STAGE_DESCRIPTION_HPP
#define POSTLUDE_PLAN_STAGE_DESCRIPTION_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "plan/planner.hpp"

namespace postlude {
namespace detail {

/// What is told of a stage.
struct StageDescription {
  std::string sweep;
  std::vector<std::string> reductions;  ///< their names
  std::vector<std::string> reads;       ///< names of arrays
  std::vector<std::string> writes;
  double bytes = 0;                   ///< of those arrays, each element once
  double flops = 0;                   ///< operations on all elements
  bool is_on_panels = false;          ///< runs on each panel of y
  bool is_taken_in = false;           ///< computed by the GEMM as it writes
  bool follows_on_each_line = false;  ///< a host runs it on a line right after the stage before
};

StageDescription describe_stage(const ExecutionPlan& plan, std::size_t index);

/// Where y is, or that it is not computed.
std::string describe_y(const ExecutionPlan& plan);

/// "chosen", "possible" or "refused".
const char* state_of_engine(const ExecutionPlan& plan, std::size_t index);

/// Bytes of x, w and, where it is computed and no stage is taken in, y: each element once.
double gemm_bytes(const ExecutionPlan& plan);

}  // namespace detail
}  // namespace postlude

#endif
