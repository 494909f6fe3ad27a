#include "compilation/stage_code.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace postlude {
namespace detail {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

template <class Enumeration>
std::string enumerator(const char* type, Enumeration value) {
  return std::string(type) + "(" + number(static_cast<std::int64_t>(value)) + ")";
}

std::string source_text(const Source& source) {
  return "Source(" + enumerator("SourceKind", source.kind()) + ", " + number(source.index()) + ")";
}

std::string instruction_text(const Instruction& instruction) {
  return "Instruction{" + enumerator("Action", instruction.action) + ", " +
         enumerator("Operation", instruction.operation) + ", " + number(instruction.slot) + ", " +
         number(instruction.target) + ", {" + source_text(instruction.sources[0]) + ", " +
         source_text(instruction.sources[1]) + ", " + source_text(instruction.sources[2]) + "}}";
}

/// "i == 0 ? a : i == 1 ? b : c": a table that folds away.
std::string choice(const std::vector<std::string>& entries) {
  std::string text;
  for (std::size_t i = 0; i + 1 < entries.size(); ++i)
    text += "i == " + number(static_cast<std::int64_t>(i)) + " ? " + entries[i] + " : ";
  return text + entries.back();
}

bool is_shared(const OperandAccess& access) {
  return access.outer_divisor != 1 || access.inner_divisor != 1;
}

int operand_count(const Stage& stage) {
  int count = 0;
  for (int i = 0; i < stage.instruction_count; ++i) {
    const Instruction& instruction = stage.instructions[i];
    for (const Source& source : instruction.sources)
      if (source.kind() == SourceKind::operand) count = std::max(count, source.index() + 1);
    if (instruction.action == Action::store) count = std::max(count, instruction.target + 1);
  }
  for (int i = 0; i < stage.reduction_count; ++i)
    count = std::max(count, stage.reductions[i].output + 1);
  return count;
}

}  // namespace

std::string code_text(const Stage& stage) {
  std::vector<std::string> instructions;
  for (int i = 0; i < stage.instruction_count; ++i)
    instructions.push_back(instruction_text(stage.instructions[i]));
  std::vector<std::string> kinds;
  for (int i = 0; i < maximum_reductions; ++i)
    kinds.push_back(enumerator("Reduction", stage.reductions[i].kind));
  std::vector<std::string> dtypes;
  for (int i = 0; i < operand_count(stage); ++i)
    dtypes.push_back(enumerator("DataType", stage.operands[i].dtype));
  std::vector<std::string> shared;
  for (int i = 0; i < operand_count(stage); ++i)
    shared.push_back(is_shared(stage.operands[i]) ? "true" : "false");
  return "struct Code {\n"
         "  static constexpr bool is_static = true;\n"
         "  static constexpr std::size_t instruction_count = " +
         number(stage.instruction_count) +
         ";\n"
         "  static constexpr Instruction at(std::size_t i) { return " +
         choice(instructions) +
         "; }\n"
         "  template <std::size_t index>\n"
         "  static constexpr Instruction instruction() { return at(index); }\n"
         "  static constexpr int reductions(const Stage&) { return " +
         number(stage.reduction_count) +
         "; }\n"
         "  static constexpr Reduction kind(const Stage&, int i) { return " +
         choice(kinds) +
         "; }\n"
         "  static constexpr DataType dtype(int i) { return " +
         choice(dtypes) +
         "; }\n"
         "  static constexpr bool is_shared(int i) { return " +
         choice(shared) + "; }\n};\n";
}

void append_to_key(std::string& key, std::int64_t value) {
  key.append(reinterpret_cast<const char*>(&value), 2);
}

void append_code_key(std::string& key, const Stage& stage) {
  append_to_key(key, stage.instruction_count);
  key.append(reinterpret_cast<const char*>(stage.instructions),
             sizeof(Instruction) * static_cast<std::size_t>(stage.instruction_count));
  append_to_key(key, stage.reduction_count);
  for (int i = 0; i < maximum_reductions; ++i)
    append_to_key(key, static_cast<int>(stage.reductions[i].kind));
  for (int i = 0; i < operand_count(stage); ++i) {
    append_to_key(key, static_cast<int>(stage.operands[i].dtype));
    append_to_key(key, is_shared(stage.operands[i]) ? 1 : 0);
  }
}

}  // namespace detail
}  // namespace postlude
