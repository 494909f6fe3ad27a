#include "case.hpp"

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "programs_text.hpp"

namespace postlude {
namespace perf {
namespace {

using nlohmann::json;

OperandKind kind_named(const std::string& name) {
  if (name == "row") return OperandKind::row;
  if (name == "column") return OperandKind::column;
  if (name == "matrix") return OperandKind::matrix;
  throw std::runtime_error("programs.json: an operand is a '" + name +
                           "': expected row, column, matrix or a number");
}

Independent independent_named(const std::string& name) {
  if (name == "rows") return Independent::rows;
  if (name == "columns") return Independent::columns;
  if (name == "nothing") return Independent::nothing;
  throw std::runtime_error("programs.json: independent is '" + name +
                           "': expected rows, columns or nothing");
}

DataType dtype_named(const std::string& name) {
  for (const DataType dtype :
       {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16})
    if (name == name_of(dtype)) return dtype;
  throw std::runtime_error("programs.json: dtype is '" + name +
                           "': expected f32, f64, f16 or bf16");
}

const json& program_named(const json& table, const std::string& name) {
  for (const json& program : table.at("programs"))
    if (program.at("name") == name) return program;
  throw std::runtime_error("programs.json: there is no program '" + name + "'");
}

std::vector<std::string> programs_of(const json& table, const json& group) {
  const json& programs = group.at("programs");
  return (programs.is_string() ? table.at("lists").at(programs.get<std::string>()) : programs)
      .get<std::vector<std::string>>();
}

Case make_case(const json& table, const json& group, const std::string& name) {
  const json& program = program_named(table, name);
  Case result;
  result.set = group.at("set");
  result.program = name;
  result.text = program.at("text");
  result.independent = independent_named(program.at("independent"));
  for (const std::string operand : program.at("operands")) {
    const json& what = table.at("operands").at(operand);
    if (what.is_number())
      result.operands.push_back({operand, OperandKind::scalar, what.get<double>()});
    else
      result.operands.push_back({operand, kind_named(what), 0});
  }
  return result;
}

}  // namespace

std::string Case::name() const {
  return set + "/" + program + "/" + name_of(dtype) + "/" + std::to_string(m) + "x" +
         std::to_string(n) + "x" + std::to_string(k);
}

std::vector<Case> cases_of(const std::string& size_class) {
  const json table = json::parse(programs_text);
  if (!table.at("cases").contains(size_class))
    throw std::runtime_error("size is '" + size_class + "': expected full, short, tiny or cpu");
  std::vector<Case> cases;
  for (const json& group : table.at("cases").at(size_class))
    for (const std::string dtype : group.at("dtypes"))
      for (const json& size : group.at("sizes"))
        for (const std::string& name : programs_of(table, group)) {
          Case line = make_case(table, group, name);
          line.dtype = dtype_named(dtype);
          line.m = size.at(0);
          line.n = size.at(1);
          line.k = size.at(2);
          cases.push_back(line);
        }
  return cases;
}

bool is_selected(const std::string& name, const std::string& filter, char separator) {
  if (filter.empty()) return true;
  std::istringstream parts(filter);
  for (std::string part; std::getline(parts, part, separator);)
    if (!part.empty() && name.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace perf
}  // namespace postlude
