#include "support/random_program.hpp"

#include <algorithm>
#include <iterator>

#include "program/lower.hpp"
#include "reference/reference.hpp"
#include "support/catch.hpp"

using namespace postlude;
using namespace postlude::test;

namespace {

RandomProgramSettings random_settings(Random& random) {
  RandomProgramSettings settings;
  settings.m = 1 + random.below(6);
  settings.n = 1 + random.below(8);
  settings.batch = 1 + random.below(2);
  return settings;
}

detail::Program lower(const RandomProgram& program, const RandomProgramSettings& settings) {
  return detail::lower(program.epilogue(), {settings.batch, settings.m, settings.n}, 3,
                       program.operands);
}

}  // namespace

TEST_CASE("random programs use every operation of the table", "[unit]") {
  Random random;
  INFO(random.hint());
  std::set<std::string> used;
  for (int i = 0; i < 2000; ++i) {
    const RandomProgram program = random_program(random, random_settings(random));
    used.insert(program.used.begin(), program.used.end());
  }
  std::vector<std::string> missing;
  const std::set<std::string> all = all_operation_names();
  std::set_difference(all.begin(), all.end(), used.begin(), used.end(),
                      std::back_inserter(missing));
  CHECK(missing == std::vector<std::string>());
}

TEST_CASE("random programs are legal, and the reference evaluates them", "[unit]") {
  Random random;
  INFO(random.hint());
  std::int64_t batched = 0;
  std::int64_t with_several_results = 0;
  for (int i = 0; i < 500; ++i) {
    const RandomProgramSettings settings = random_settings(random);
    const detail::Program program = lower(random_program(random, settings), settings);
    INFO(to_string(program));
    CHECK_NOTHROW(detail::verify(program));
    detail::reference::Array y(program.y);
    for (double& value : y.values) value = random.uniform(-2, 2);
    std::vector<detail::reference::Array> operands;
    for (const detail::ProgramOperand& operand : program.operands) {
      operands.emplace_back(operand.shape);
      for (double& value : operands.back().values)
        value = operand.name == "seed" ? 7 : random.uniform(-2, 2);
      if (operand.is_used && operand.is_batched) ++batched;
    }
    const auto results = detail::reference::evaluate(program, y, operands);
    CHECK(results.size() == program.results.size());
    if (results.size() > 1) ++with_several_results;
  }
  CHECK(batched > 0);
  CHECK(with_several_results > 0);
}

TEST_CASE("random programs without steps have no operation that jumps", "[unit]") {
  Random random;
  INFO(random.hint());
  RandomProgramSettings settings;
  settings.m = 3;
  settings.n = 4;
  settings.has_steps = false;
  for (int i = 0; i < 500; ++i) {
    const RandomProgram program = random_program(random, settings);
    for (const char* name : {"less", "where", "floor", "sign", "argmax", "any", "dropout"})
      CHECK(program.used.count(name) == 0);
  }
}
