#include "support/given_values.hpp"

#include "support/catch.hpp"
#include "support/error_model.hpp"
#include "support/workload.hpp"

namespace postlude {
namespace test {
namespace {

std::vector<double> run(Settings settings, const std::vector<double>& values, bool is_row,
                        const Epilogue& epilogue, const std::vector<Given>& operands) {
  (is_row ? settings.n : settings.m) = static_cast<std::int64_t>(values.size());
  std::vector<OperandDeclaration> declarations;
  for (const Given& operand : operands) declarations.push_back({operand.name, operand.kind});
  std::vector<double> first;
  for (const ResultLayout layout :
       {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any}) {
    settings.result = layout;
    INFO(describe(settings));
    Workload workload(settings, epilogue, declarations);
    (is_row ? workload.w() : workload.x()).fill(values);
    (is_row ? workload.x() : workload.w()).set(1, 0, 0);
    for (const Given& operand : operands) {
      if (operand.kind == OperandKind::scalar)
        workload.bind(operand.name, operand.values.at(0));
      else
        workload.operand(operand.name).fill(operand.values);
    }
    workload.execute();
    check_exact(workload);
    const std::vector<double> result = workload.output().elements();
    if (layout == ResultLayout::row_major) first = result;
    CHECK(same(result, first));
  }
  return first;
}

}  // namespace

std::vector<double> on_row(DataType dtype, const std::vector<double>& values,
                           const Epilogue& epilogue, const std::vector<Given>& operands) {
  Settings settings;
  settings.dtype = dtype;
  return run(settings, values, true, epilogue, operands);
}

std::vector<double> on_column(DataType dtype, const std::vector<double>& values,
                              const Epilogue& epilogue, const std::vector<Given>& operands) {
  Settings settings;
  settings.dtype = dtype;
  return run(settings, values, false, epilogue, operands);
}

double on_value(DataType dtype, double value, const Epilogue& epilogue,
                const std::vector<Given>& operands) {
  return on_row(dtype, {value}, epilogue, operands).at(0);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

}  // namespace test
}  // namespace postlude
