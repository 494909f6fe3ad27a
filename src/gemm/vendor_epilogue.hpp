#ifndef POSTLUDE_GEMM_VENDOR_EPILOGUE_HPP
#define POSTLUDE_GEMM_VENDOR_EPILOGUE_HPP

#include <optional>
#include <string>

#include "evaluator/stage.hpp"
#include "plan/gemm_problem.hpp"
#include "plan/planned_stage.hpp"

namespace postlude {
namespace detail {

/// What vendors' GEMMs apply to y, after a bias, as they write it.
enum class VendorFunction { none, relu, gelu_tanh };

/// A stage as a vendor's GEMM can compute it: result = function(y + bias).
struct VendorEpilogue {
  VendorFunction function = VendorFunction::none;
  bool has_bias = false;
  /// One element, of the result's dtype, for each of the result's contiguous dimension.
  const void* bias = nullptr;
  void* result = nullptr;
  DataType dtype = DataType::float32;  ///< of the result
  MatrixStrides strides;               ///< of the result
};

/// The stage as a vendor's epilogue when it is exactly that, and nothing else. `bound` is `planned`
/// with its addresses.
std::optional<VendorEpilogue> as_vendor_epilogue(const PlannedStage& planned, const Stage& bound);

/// "bias and relu".
std::string to_string(const VendorEpilogue& epilogue);

}  // namespace detail
}  // namespace postlude

#endif
