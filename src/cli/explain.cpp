#include <fmt/format.h>

#include <string>

#include "cli_error.hpp"
#include "commands.hpp"
#include "element_type.hpp"
#include "workload.hpp"

namespace postlude {
namespace cli {

int explain(const ExplainArguments& arguments) {
  const SyntheticWorkload synthetic = make_synthetic_workload(arguments);
  const char* explanation = nullptr;
  if (arguments.is_json) {
    require(postlude_plan_explain_json(synthetic.workload.plan(), &explanation));
    fmt::print("{}", explanation);
    return exit_ok;
  }
  require(postlude_plan_explain(synthetic.workload.plan(), &explanation));
  std::string text = explanation;
  if (text.empty() || text.back() != '\n') text += '\n';
  // The plan does not know in what its results will be stored.
  for (const ResultDescription& result : synthetic.workload.results())
    if (result.dtype != result.natural_dtype)
      text += fmt::format("{} is stored as {}; its bytes are counted as {}\n", result.name,
                          element_name(result.dtype), element_name(result.natural_dtype));
  fmt::print("{}", text);
  return exit_ok;
}

}  // namespace cli
}  // namespace postlude
