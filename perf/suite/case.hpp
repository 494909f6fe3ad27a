#ifndef POSTLUDE_PERF_CASE_HPP
#define POSTLUDE_PERF_CASE_HPP

#include <postlude/expression.hpp>
#include <postlude/tensor.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace postlude {
namespace perf {

/// Which part of a result can be computed from a part of the inputs alone: that decides how a
/// result of full size is checked by a sample.
enum class Independent { rows, columns, nothing };

/// An operand of the table: a tensor of a kind, or one number.
struct CaseOperand {
  std::string name;
  OperandKind kind = OperandKind::row;
  double number = 0;  ///< of a scalar
};

/// One line of the table: a program at one size and dtype.
struct Case {
  std::string set;
  std::string program;
  std::string text;
  Independent independent = Independent::rows;
  std::vector<CaseOperand> operands;
  DataType dtype = DataType::float32;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;

  /// "layers/mish_mish/f32/1024x8192x8192": the same in every file of results.
  std::string name() const;
};

/// The cases of a size class, "full", "short" or "tiny", of perf/programs.json, which is part of
/// the executable. Throws std::runtime_error for another class.
std::vector<Case> cases_of(const std::string& size_class);

/// True when `filter` is empty or one of its parts, between separators, occurs in `name`.
bool is_selected(const std::string& name, const std::string& filter, char separator = ',');

}  // namespace perf
}  // namespace postlude

#endif
