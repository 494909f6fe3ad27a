#ifndef POSTLUDE_TESTS_SUPPORT_RANDOM_PROGRAM_HPP
#define POSTLUDE_TESTS_SUPPORT_RANDOM_PROGRAM_HPP

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <postlude/expression.hpp>

#include "support/random.hpp"

namespace postlude {
namespace test {

/// What random_program() makes programs of.
struct RandomProgramSettings {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t batch = 1;  ///< with more than 1, some operands are batched
  int operations = 12;     ///< at most, each of which may be a composite
  int results = 3;         ///< at most
  bool has_steps = true;   ///< operations that jump: comparisons, floor, argmax, dropout, ...
  bool has_special_constants = true;  ///< NaN, infinities and huge numbers among the constants
};

/// A program that nobody would write, and every part of it legal.
struct RandomProgram {
  std::vector<Epilogue::Result> results;
  std::vector<OperandDeclaration> operands;
  std::set<std::string> used;  ///< names of operations, reductions and composites

  Epilogue epilogue() const { return Epilogue(results); }
};

/// A random program for y of batch x m x n: any operation, reduction and composite of the table on
/// any values that broadcast, y, operands of every kind and constants; values are used again, and
/// some phrases are such as a planner would simplify. The scalar operand `seed` must be bound to a
/// whole number.
RandomProgram random_program(Random& random, const RandomProgramSettings& settings);

/// Every name that the table has: what many random programs must have used between them.
std::set<std::string> all_operation_names();

}  // namespace test
}  // namespace postlude

#endif
