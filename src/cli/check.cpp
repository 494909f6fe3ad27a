#include <fmt/format.h>

#include "check_report.hpp"
#include "cli_error.hpp"
#include "commands.hpp"
#include "workload.hpp"

namespace postlude {
namespace cli {

int check(const CheckArguments& arguments) {
  SyntheticWorkload synthetic = make_synthetic_workload(arguments);
  Workload& workload = synthetic.workload;
  // Before the work, so that a crash can be repeated.
  fmt::print("{}, seed {}\n", problem_text(arguments, synthetic.context.get()), synthetic.seed);
  std::fflush(stdout);

  Progress progress;
  fill_inputs(synthetic, arguments, progress);
  workload.poison_outputs();
  progress.phase("computing");
  workload.execute();
  workload.synchronize();
  workload.copy_outputs_to_host();
  progress.phase("computing the float64 reference");
  const std::vector<postlude_check_result> checks = workload.check(arguments.tolerance.value_or(0));
  progress.done();

  fmt::print("{}", check_report(workload.results(), checks));
  return is_within_tolerance(checks) ? exit_ok : exit_check_failed;
}

}  // namespace cli
}  // namespace postlude
