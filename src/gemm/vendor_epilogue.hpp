#ifndef POSTLUDE_GEMM_VENDOR_EPILOGUE_HPP
#define POSTLUDE_GEMM_VENDOR_EPILOGUE_HPP

#include <optional>
#include <string>

#include "evaluator/stage.hpp"
#include "plan/gemm_problem.hpp"
#include "plan/planned_stage.hpp"

namespace postlude {
namespace detail {

/// A stage as a vendor's GEMM can compute it: result = y, or y + bias. Their relu and gelu are not
/// ours: some of cuBLASLt's algorithms make 0 of NaN in relu, and its gelu is NaN at -infinity and
/// 0 where gelu_tanh is -2e-7 (CUDA 13.0; tests/conformance/engines.cpp found both).
struct VendorEpilogue {
  bool has_bias = false;
  /// One element, of the result's dtype, for each of the result's contiguous dimension.
  const void* bias = nullptr;
  /// The bias has an element for each row of y instead of one for each column. Where y has but one
  /// of either, strides alone would not tell.
  bool is_bias_of_rows = false;
  void* result = nullptr;
  DataType dtype = DataType::float32;  ///< of the result
  MatrixStrides strides;               ///< of the result
};

/// The stage as a vendor's epilogue when it is exactly that, and nothing else. `bound` is `planned`
/// with its addresses.
std::optional<VendorEpilogue> as_vendor_epilogue(const PlannedStage& planned, const Stage& bound);

/// "bias", or "the conversion of y".
std::string to_string(const VendorEpilogue& epilogue);

}  // namespace detail
}  // namespace postlude

#endif
