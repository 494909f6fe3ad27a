#ifndef POSTLUDE_TESTS_SUPPORT_MIXED_WORKLOAD_HPP
#define POSTLUDE_TESTS_SUPPORT_MIXED_WORKLOAD_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <postlude/plan.hpp>

#include "reference/reference_results.hpp"
#include "support/random.hpp"
#include "support/test_tensor.hpp"
#include "support/workload.hpp"

namespace postlude {
namespace test {

/// Elements of a tensor of any dtype, the 16-bit ones included; values are rounded to the nearest.
double element(const TestTensor& tensor, std::int64_t i, std::int64_t j = 0, std::int64_t k = 0);
void set_element(TestTensor& tensor, double value, std::int64_t i, std::int64_t j = 0,
                 std::int64_t k = 0);
/// In the order of their indices.
std::vector<double> elements(const TestTensor& tensor);
void fill(TestTensor& tensor, const std::function<double()>& next);
void fill(TestTensor& tensor, const std::vector<double>& values);

/// A problem whose operands and results have dtypes of their own, and which may be batched.
struct MixedSettings {
  Settings base;  ///< base.dtype is that of x and w; base.batch counts when is_batched
  DataType operand_dtype = DataType::float32;
  DataType output_dtype = DataType::float32;
  bool is_batched = false;
  bool shares_w = false;       ///< w has rank 2
  std::int64_t batch_gap = 0;  ///< elements between one matrix of x, w or a result and the next
};
/// Operands and outputs of the dtype of x and w.
MixedSettings settings_of(const Settings& base);
std::string describe(const MixedSettings& settings);

/// As Workload, for these settings, with the tolerance of running_error().
class MixedWorkload {
 public:
  MixedWorkload(const MixedSettings& settings, const Epilogue& epilogue,
                const std::vector<OperandDeclaration>& operands = {});

  const Plan& plan() const { return plan_; }
  TestTensor& x() { return x_; }
  TestTensor& w() { return w_; }
  TestTensor& operand(const std::string& name) { return tensors_.at(name); }
  TestTensor& output(std::size_t index = 0) { return outputs_.at(index); }
  void bind(const std::string& scalar, double value) { scalars_[scalar] = value; }

  /// As Workload's.
  void fill_exact(Random& random);
  void fill_real(Random& random);

  Arguments host_arguments() const { return arguments(false); }
  Arguments device_arguments() const { return arguments(true); }

  /// Copies the inputs to the backend, executes with poisoned outputs, copies the outputs back.
  /// Checks that nothing was written beside the outputs.
  void execute();

  /// Each element of each result must be what some number within the program's error becomes when
  /// it is rounded once to the dtype of the result: between the rounded ends of
  /// expected +- running_error(). y is taken as exact after fill_exact(), else as within
  /// (K + 2) eps of sum |x||w| (Higham, 3.5).
  void check() const;

 private:
  Arguments arguments(bool on_device) const;
  detail::reference::Array y_error() const;
  TestTensor make(DataType dtype, std::int64_t rows, std::int64_t columns, Layout layout,
                  bool is_batched) const;

  MixedSettings settings_;
  TestTensor x_;
  TestTensor w_;
  Plan plan_;
  std::map<std::string, TestTensor> tensors_;
  std::map<std::string, double> scalars_;
  std::vector<TestTensor> outputs_;
  bool is_exact_ = false;
};

}  // namespace test
}  // namespace postlude

#endif
