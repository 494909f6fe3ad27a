#ifndef POSTLUDE_TESTS_SUPPORT_WORKLOAD_HPP
#define POSTLUDE_TESTS_SUPPORT_WORKLOAD_HPP

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <postlude/plan.hpp>

#include "support/random.hpp"
#include "support/test_tensor.hpp"

namespace postlude {
namespace test {

/// Sizes, dtype and layouts of one problem.
struct Settings {
  DataType dtype = DataType::float32;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t batch = 0;  ///< 0 for a problem without a batch dimension
  Layout x = Layout::row_major;
  Layout w = Layout::row_major;
  Layout operands = Layout::row_major;
  ResultLayout result = ResultLayout::row_major;
  bool has_padded_outputs = false;
  StageCompilation compilation = StageCompilation::automatic;
  std::vector<std::string> without_rewrites;
  std::string engine;  ///< "" for none in particular
};
std::string describe(const Settings& settings);
/// The layout that results of these settings are stored in.
Layout output_layout(const Settings& settings);
PlanOptions options_of(const Settings& settings);

/// A problem with a plan and all its tensors on the backend that is tested.
class Workload {
 public:
  Workload(const Settings& settings, const Epilogue& epilogue,
           const std::vector<OperandDeclaration>& operands = {});

  const Settings& settings() const { return settings_; }
  const Plan& plan() const { return plan_; }
  TestTensor& x() { return x_; }
  TestTensor& w() { return w_; }
  TestTensor& operand(const std::string& name) { return tensors_.at(name); }
  TestTensor& output(std::size_t index = 0) { return outputs_.at(index); }
  /// Of all outputs.
  std::vector<std::vector<unsigned char>> output_bytes() const;
  void bind(const std::string& scalar, double value) { scalars_[scalar] = value; }

  /// Fills every input with Random::quarter(), so that y is exact in float32.
  void fill_exact(Random& random);
  /// Fills x with numbers from [0, 1) and the other inputs from +-1/sqrt(k): the founding
  /// workloads' data.
  void fill_real(Random& random);

  Arguments host_arguments() const;
  Arguments device_arguments() const;

  /// Copies the inputs to the backend, executes with poisoned outputs, copies the outputs back.
  /// Checks that nothing was written beside the outputs, nor into an input.
  void execute();

 private:
  void check_inputs_unchanged() const;

  Settings settings_;
  TestTensor x_;
  TestTensor w_;
  Plan plan_;
  std::map<std::string, TestTensor> tensors_;
  std::map<std::string, double> scalars_;
  std::vector<TestTensor> outputs_;
};

}  // namespace test
}  // namespace postlude

#endif
