#include "gemm/kept_algorithms.hpp"

#include <sstream>

#include <postlude/error.hpp>

namespace postlude {
namespace detail {

KeptAlgorithms::KeptAlgorithms(int device, const std::string& text)
    : version_(cublaslt_version(device)) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  if (word != version_)
    throw Error(Status::invalid_argument,
                "gemm_choice was made with '" + word.substr(0, 64) + "': this is " + version_);
  while (words >> word) {
    const std::size_t equals = word.find('=');
    cublasLtMatmulAlgo_t algorithm = {};
    if (equals == std::string::npos || !parse_algorithm(word.substr(equals + 1), algorithm))
      throw Error(Status::invalid_argument, "gemm_choice has '" + word.substr(0, 64) +
                                                "': expected a name and an algorithm's digits");
    add(word.substr(0, equals), algorithm);
  }
}

const cublasLtMatmulAlgo_t* KeptAlgorithms::find(const std::string& name) const {
  const auto entry = algorithms_.find(name);
  return entry == algorithms_.end() ? nullptr : &entry->second;
}

std::string KeptAlgorithms::text() const {
  std::string text = version_;
  for (const auto& [name, algorithm] : algorithms_) text += " " + name + "=" + text_of(algorithm);
  return text;
}

}  // namespace detail
}  // namespace postlude
