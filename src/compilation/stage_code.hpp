#ifndef POSTLUDE_COMPILATION_STAGE_CODE_HPP
#define POSTLUDE_COMPILATION_STAGE_CODE_HPP

#include <cstdint>
#include <string>

#include "evaluator/stage.hpp"

namespace postlude {
namespace detail {

// The instructions of a stage as constants of a program that is compiled at run time.

/// A stage, whose operands' dtypes are set, as the definition of `struct Code`: a Code of
/// evaluator/code.hpp.
std::string code_text(const Stage& stage);

/// Appends everything that code_text() depends on, in a form of its own: equal for equal texts and
/// cheap to make.
void append_code_key(std::string& key, const Stage& stage);

/// Appends a number below 2^16 to a key.
void append_to_key(std::string& key, std::int64_t value);

}  // namespace detail
}  // namespace postlude

#endif
