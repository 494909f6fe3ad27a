#include <fmt/format.h>

#include <string>

#include "cli_error.hpp"
#include "commands.hpp"
#include "workload.hpp"

namespace postlude {
namespace cli {

int explain(const ExplainArguments& arguments) {
  const SyntheticWorkload synthetic = make_synthetic_workload(arguments);
  const char* explanation = nullptr;
  require(postlude_plan_explain(synthetic.workload.plan(), &explanation));
  std::string text = explanation;
  if (text.empty() || text.back() != '\n') text += '\n';
  fmt::print("{}", text);
  return exit_ok;
}

}  // namespace cli
}  // namespace postlude
