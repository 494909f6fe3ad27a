#include "plan/gemm_choice.hpp"

#include <postlude/error.hpp>

namespace postlude {
namespace detail {
namespace {

constexpr char separator[] = "; ";

std::string text_of(const MatrixStrides& strides) {
  return std::to_string(strides.batch) + "," + std::to_string(strides.row) + "," +
         std::to_string(strides.column);
}

}  // namespace

std::string text_of(const GemmProblem& problem) {
  return std::string(name_of(problem.dtype)) + " in " + name_of(problem.compute) + ", batch " +
         std::to_string(problem.batch) + ", m " + std::to_string(problem.m) + ", n " +
         std::to_string(problem.n) + ", k " + std::to_string(problem.k) + ", strides " +
         text_of(problem.x) + " and " + text_of(problem.w) +
         (problem.has_factors ? ", product and factors" : "");
}

std::string to_text(const GemmChoice& choice) {
  return choice.engine + separator + choice.problem + separator + choice.algorithms;
}

GemmChoice parse_gemm_choice(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  const std::size_t first = line.find(separator);
  const std::size_t second = first == std::string::npos ? first : line.find(separator, first + 1);
  if (second == std::string::npos)
    throw Error(Status::invalid_argument,
                "gemm_choice is '" + line.substr(0, 64) +
                    "': expected what a plan gave as its gemm_choice: engine; problem; algorithms");
  const std::size_t width = sizeof separator - 1;
  return {line.substr(0, first), line.substr(first + width, second - first - width),
          line.substr(second + width)};
}

}  // namespace detail
}  // namespace postlude
