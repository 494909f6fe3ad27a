#include "support/catch.hpp"

#include <limits>
#include <string>
#include <vector>

#include "expression/signature.hpp"
#include "support/error_model.hpp"
#include "support/settings.hpp"

using namespace postlude;
using namespace postlude::test;

// Generated from the operation table: a new line of it is tested without a change here.

namespace {

std::vector<Operation> all_operations() {
  return {
#define POSTLUDE_ITEM(name, arity, signature, formula) Operation::name,
      POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_ITEM) POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_ITEM)
#undef POSTLUDE_ITEM
  };
}

std::vector<Reduction> all_reductions() {
  return {
#define POSTLUDE_ITEM(name, parameter, fallback, formula) Reduction::name,
      POSTLUDE_REDUCTIONS(POSTLUDE_ITEM)
#undef POSTLUDE_ITEM
  };
}

/// Ways to call an operation: one letter for each argument, y, row, column, matrix, scalar or
/// element, and fewer letters than arguments where the rest have defaults.
std::vector<std::string> calls_of(const detail::OperationSignature& signature) {
  static const std::vector<std::string> by_arity[] = {
      {}, {"y"}, {"yr", "cy", "ym", "sy", "ye", "yy"}, {"yrc", "mys", "ecy", "ysm", "yyr", "sry"}};
  std::vector<std::string> calls = by_arity[signature.arity];
  for (std::size_t given = 1; given < signature.parameters.size(); ++given)
    if (signature.parameters[given].has_default) calls.push_back(given == 1 ? "y" : "ys");
  return calls;
}

Expression argument(char kind) {
  switch (kind) {
    case 'r':
      return row("r");
    case 'c':
      return column("c");
    case 'm':
      return matrix("m");
    case 's':
      return scalar("s");
    case 'e':
      return element("e");
    default:
      return y();
  }
}

void check_operation(Operation operation, const std::string& call, const Settings& settings) {
  Random random;
  INFO(random.hint());
  INFO(detail::signature_of(operation).name << "(" << call << "), " << describe(settings));
  std::vector<Expression> arguments;
  for (const char kind : call) arguments.push_back(argument(kind));
  Workload workload(settings, Epilogue(detail::apply(operation, arguments)));
  workload.fill_exact(random);
  workload.execute();
  check_exact(workload);
}

void check_reduction(Reduction reduction, int dim, double parameter, const Expression& reduced,
                     const Settings& settings) {
  Random random;
  INFO(random.hint());
  INFO(detail::signature_of(reduction).name << " over dim " << dim << ", parameter " << parameter
                                            << ", " << describe(settings));
  Workload workload(settings, Epilogue(reduce(reduction, reduced, dim, parameter)));
  workload.fill_exact(random);
  workload.execute();
  check_exact(workload);
}

/// Numbers that a reduction's parameter is tested with.
std::vector<double> parameters_of(Reduction reduction) {
  const std::string& name = detail::signature_of(reduction).parameter;
  if (name == "p") return {2, 1, 3.5, std::numeric_limits<double>::infinity()};
  if (name == "correction") return {1, 0, 2};
  return {0};
}

}  // namespace

TEST_CASE("every pointwise operation agrees with the reference", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const std::vector<Settings> settings = sizes_and_layouts(dtype);
  for (const Operation operation : all_operations()) {
    // Call and setting move on together: their numbers have no common divisor, or the offset by
    // size sees to it, so that all calls meet all sizes or all layouts.
    const std::vector<std::string> calls = calls_of(detail::signature_of(operation));
    for (std::size_t i = 0; i < settings.size(); ++i)
      check_operation(operation, calls[(i + i / 5) % calls.size()], settings[i]);
  }
}

TEST_CASE("every reduction over either dimension agrees with the reference", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const Expression reduced[] = {y(), y() + row("r"), abs(y()) * column("c"), matrix("m")};
  std::size_t turn = 0;
  for (const Reduction reduction : all_reductions())
    for (const double parameter : parameters_of(reduction))
      for (const int dim : {0, 1})
        for (const Settings& settings : sizes_and_layouts(dtype))
          check_reduction(reduction, dim, parameter, reduced[turn++ % 4], settings);
}

TEST_CASE("reductions of matrices of many tiles and chunks agree with the reference",
          "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  // More columns than a host thread's tile has, and more lines than the chunks' smallest number.
  const std::int64_t sizes[][2] = {{67, 1031}, {1031, 67}, {4357, 3}, {3, 4357}};
  for (const Reduction reduction : all_reductions())
    for (const auto& size : sizes)
      for (const int dim : {0, 1})
        for (const ResultLayout layout : {ResultLayout::row_major, ResultLayout::column_major}) {
          Settings settings;
          settings.dtype = dtype;
          settings.m = size[0];
          settings.n = size[1];
          settings.k = 2;
          settings.result = layout;
          // A product of thousands of numbers stays in range when each is close to 1.
          const Expression reduced =
              reduction == Reduction::prod ? y() * 0x1p-12 + 1 : y() + row("r");
          check_reduction(reduction, dim, parameters_of(reduction)[0], reduced, settings);
        }
}

TEST_CASE("rows, columns and single values reduce over either dimension", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Settings settings;
  settings.dtype = dtype;
  settings.m = 37;
  settings.n = 131;
  settings.k = 2;
  for (const Reduction reduction : all_reductions())
    for (const int dim : {0, 1})
      for (const Expression& reduced : {row("r"), column("c"), element("e"), scalar("s")})
        for (const Settings& each : layouts_of(settings))
          check_reduction(reduction, dim, parameters_of(reduction)[0], reduced, each);
}
