#ifndef POSTLUDE_GEMM_KEPT_ALGORITHMS_HPP
#define POSTLUDE_GEMM_KEPT_ALGORITHMS_HPP

#include <map>
#include <string>

#include "gemm/cublaslt_matmul.hpp"

namespace postlude {
namespace detail {

/// Algorithms of a GEMM's products by name, as a text that a later process can read:
/// "cublasLt-130100-sm_90 256=<digits> 16=<digits>".
class KeptAlgorithms {
 public:
  explicit KeptAlgorithms(int device) : version_(cublaslt_version(device)) {}
  /// Reads text(). Throws Error(invalid_argument) for another text, and for one that was made with
  /// another version of the library or for another kind of device.
  KeptAlgorithms(int device, const std::string& text);

  void add(const std::string& name, const cublasLtMatmulAlgo_t& algorithm) {
    algorithms_[name] = algorithm;
  }
  /// Null when there is none of that name.
  const cublasLtMatmulAlgo_t* find(const std::string& name) const;
  bool is_empty() const { return algorithms_.empty(); }
  std::string text() const;

 private:
  std::string version_;
  std::map<std::string, cublasLtMatmulAlgo_t> algorithms_;
};

}  // namespace detail
}  // namespace postlude

#endif
