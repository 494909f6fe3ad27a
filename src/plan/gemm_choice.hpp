#ifndef POSTLUDE_PLAN_GEMM_CHOICE_HPP
#define POSTLUDE_PLAN_GEMM_CHOICE_HPP

#include <string>

#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// What a plan settled on for its GEMM, which a later plan for the same problem may keep. One line
/// of text: engine; problem; the engine's algorithms.
struct GemmChoice {
  std::string engine;
  std::string problem;     ///< text_of() the problem
  std::string algorithms;  ///< in the engine's own words, "" where it has nothing to choose from
};

/// A problem as far as algorithms depend on it.
std::string text_of(const GemmProblem& problem);

std::string to_text(const GemmChoice& choice);

/// Reads to_text(), with or without a newline at its end. Throws Error(invalid_argument).
GemmChoice parse_gemm_choice(const std::string& text);

}  // namespace detail
}  // namespace postlude

#endif
