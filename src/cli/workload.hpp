#ifndef POSTLUDE_CLI_WORKLOAD_HPP
#define POSTLUDE_CLI_WORKLOAD_HPP

#include <postlude.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "handles.hpp"
#include "progress.hpp"
#include "tensor_buffer.hpp"

namespace postlude {
namespace cli {

/// An operand before memory is allocated for it.
struct OperandDescription {
  std::string name;
  postlude_operand_kind kind = POSTLUDE_SCALAR;
  double scalar = 0;
  postlude_tensor tensor = POSTLUDE_TENSOR_INIT;  ///< unless the kind is POSTLUDE_SCALAR
};

/// A result of a plan.
struct ResultDescription {
  std::string name;
  postlude_dtype dtype = POSTLUDE_FLOAT32;          ///< that it is stored in
  postlude_dtype natural_dtype = POSTLUDE_FLOAT32;  ///< that the plan gives it
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

Context create_context(const PlanArguments& arguments);

/// A plan of `expression`, and what it needs to be executed: inputs, outputs, bindings.
///
/// Construction only makes the plan, so that a wrong expression is answered before any memory is
/// filled. allocate() gives the tensors memory.
class Workload {
 public:
  Workload(postlude_context* context, const PlanArguments& arguments, const postlude_tensor& x,
           const postlude_tensor& w, std::vector<OperandDescription> operands);

  const postlude_plan* plan() const { return plan_.get(); }
  const std::vector<OperandDescription>& operands() const { return operands_; }
  const std::vector<ResultDescription>& results() const { return results_; }
  const postlude_tensor& x_description() const { return x_description_; }
  const postlude_tensor& w_description() const { return w_description_; }

  void allocate();
  /// As allocate(), but reads x and w of another workload, which must outlive this one.
  void allocate_with(const Workload& owner);
  TensorBuffer& x() { return x_.value(); }
  TensorBuffer& w() { return w_.value(); }
  /// The memory of operand `i`, which must not be a scalar.
  TensorBuffer& operand(std::size_t i) { return *operand_buffers_[i]; }
  TensorBuffer& output(std::size_t i) { return outputs_[i]; }

  void poison_outputs();
  /// Launches one execution; synchronize() waits for it.
  void execute();
  void synchronize();
  const postlude_bindings& backend_bindings() const { return backend_bindings_.view; }
  void copy_outputs_to_host();
  /// Compares the host copies of the outputs with the float64 reference.
  std::vector<postlude_check_result> check(double tolerance);

 private:
  struct Bindings {
    std::vector<postlude_operand_value> operands;
    std::vector<postlude_tensor> outputs;
    postlude_bindings view = POSTLUDE_BINDINGS_INIT;
  };
  using Place = const postlude_tensor& (TensorBuffer::*)() const;
  void allocate_operands_and_outputs();
  Bindings bind(const Workload& owner, Place place) const;

  postlude_context* context_;
  postlude_tensor x_description_;
  postlude_tensor w_description_;
  postlude_layout layout_;
  std::vector<OperandDescription> operands_;
  Plan plan_;
  std::vector<ResultDescription> results_;
  std::optional<TensorBuffer> x_;
  std::optional<TensorBuffer> w_;
  std::vector<std::optional<TensorBuffer>> operand_buffers_;
  std::vector<TensorBuffer> outputs_;
  Bindings backend_bindings_;
};

/// The random problem of check, explain and bench, and the seed that makes its numbers.
struct SyntheticWorkload {
  std::uint64_t seed;
  Context context;
  Workload workload;
};

SyntheticWorkload make_synthetic_workload(const SyntheticArguments& arguments);

/// Allocates and fills all inputs with numbers made from the seed.
void fill_inputs(SyntheticWorkload& synthetic, const SyntheticArguments& arguments,
                 Progress& progress);

/// "M=128 K=16384 N=16384, float32, backend openmp"; with --output-dtype, "float32 to float16".
std::string problem_text(const SyntheticArguments& arguments, const postlude_context* context);

}  // namespace cli
}  // namespace postlude

#endif
