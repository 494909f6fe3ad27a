#ifndef POSTLUDE_PLAN_HPP
#define POSTLUDE_PLAN_HPP

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <postlude/execution_space.hpp>
#include <postlude/expression.hpp>
#include <postlude/problem.hpp>
#include <postlude/tensor.hpp>
#include <postlude/view.hpp>

namespace postlude {

class PreparedWeights;

namespace detail {
class PlanImplementation;
}

/// Gives one operand its value for one execution: a number for a scalar, a tensor for the others.
///
/// Since: 0.1.
struct Binding {
  /// A number, for a scalar.
  Binding(std::string operand_name, double value) : name(std::move(operand_name)), scalar(value) {}
  /// A tensor, for an operand of another kind.
  Binding(std::string operand_name, const Tensor& value)
      : name(std::move(operand_name)), is_scalar(false), tensor(value) {}
  /// The same from a Kokkos View.
  template <class View, class = typename View::memory_space>
  Binding(std::string operand_name, const View& view)
      : Binding(std::move(operand_name), as_tensor(view)) {}

  std::string name;       ///< of the operand
  bool is_scalar = true;  ///< which of the next two counts
  double scalar = 0;      ///< the number
  Tensor tensor;          ///< the tensor
};

/// Everything that one execution reads and writes. Since: 0.1.
struct Arguments {
  Tensor x;                       ///< as the plan's problem has it, with data
  Tensor w;                       ///< the same
  std::vector<Binding> bindings;  ///< one for each operand that the program uses, in any order
  /// One tensor per result, in the order of the epilogue's results.
  std::vector<Tensor> outputs;
  /// Prepared from w, which then needs no data; null to compute with w itself.
  const PreparedWeights* prepared_weights = nullptr;
};

/// A program compiled for one problem and one backend: `out = epilogue(x w^T, operands...)`.
///
/// Immutable and reusable. Results have the shape that broadcasting gives them; a reduced dimension
/// has extent 1. Values are rounded once, to the output's dtype: any of the four floating-point
/// ones (or int64, for argmax and argmin); see ResultLayout for the one result that must have the
/// problem's.
///
/// Aliasing: an output must not overlap x, w, an operand, the workspace or another output; such a
/// call is refused with Status::overlap.
///
/// Errors: the constructor throws Error: syntax_error, unknown_name, shape_mismatch,
/// invalid_argument, unsupported (no engine, program too large), not_initialized (Kokkos).
/// Execution throws before anything is launched and leaves outputs untouched, except for
/// backend_failure.
///
/// Threads: one plan may be executed from several host threads at once with different outputs.
/// Execution is asynchronous on asynchronous backends: the caller fences the execution space
/// before it reads outputs or frees memory.
///
/// Since: 0.1.
class Plan {
 public:
  /// Compiles `epilogue` for `problem`.
  ///
  /// `operands` declares the names of an epilogue that was made from text; operands of C++
  /// expressions declare themselves. Only the backend of `space` binds later executions.
  Plan(const ExecutionSpace& space, const LinearProblem& problem, const Epilogue& epilogue,
       const std::vector<OperandDeclaration>& operands = {}, const PlanOptions& options = {});

  /// Executes on the space given to the constructor, with Kokkos Views.
  template <class XView, class WView, class OutView>
  void operator()(const XView& x, const WView& w, std::initializer_list<Binding> bindings,
                  const OutView& out) const {
    execute(Arguments{as_tensor(x), as_tensor(w), bindings, {as_tensor(out)}});
  }

  /// Executes on the space given to the constructor, with workspace of the library's own.
  void execute(const Arguments& arguments) const;

  /// Executes on `space`, an instance of the plan's backend.
  ///
  /// `workspace` is memory of the backend, aligned to 256 bytes, of at least workspace_bytes();
  /// null lets the library take it from a pool that it keeps for each instance. The workspace is
  /// in use until the work on `space` has finished.
  void execute(const ExecutionSpace& space, const Arguments& arguments, void* workspace = nullptr,
               std::size_t workspace_bytes = 0) const;

  /// Throws what execute() would throw before it launches anything, and launches nothing.
  void validate(const ExecutionSpace& space, const Arguments& arguments, void* workspace = nullptr,
                std::size_t workspace_bytes = 0) const;

  /// Bytes of scratch memory that one execution needs.
  std::size_t workspace_bytes() const noexcept;
  /// The same for an execution with prepared weights, where w is not prepared on the way.
  std::size_t workspace_bytes_with_prepared_weights() const noexcept;

  /// Number of results.
  std::size_t result_count() const noexcept;
  /// Name of a result. Errors: Error(invalid_argument) for a number that is too large.
  const std::string& result_name(std::size_t result) const;
  /// Extents of a result: {batch, rows, columns}; batch is 1 for a problem without a batch
  /// dimension, and for a result that depends on neither y nor a batched operand.
  std::vector<std::int64_t> result_extents(std::size_t result) const;
  /// dtype that a result has naturally: int64 for an index, else that of the problem.
  DataType result_dtype(std::size_t result) const;

  /// Floating-point operations of the GEMM.
  double gemm_flops() const noexcept;
  /// Bytes of x, w, operands and results, read or written once: the work that no implementation of
  /// the program that is executed can avoid.
  double minimum_bytes() const noexcept;

  /// Text for people: the program as it was written and as it is executed, the rewrites between the
  /// two, the engines considered with reasons, the stages, the bytes and FLOPs of each, the
  /// workspace.
  std::string explain() const;
  /// The same for programs, one JSON object: "schema" (1; a change that a reader would notice makes
  /// it 2), "problem", "written" (lines of the program as it was written), "rewrites" (name,
  /// before, after, reason, saved), "program" (lines of what is executed), "engines" (name, state,
  /// reason, workspace_bytes, takes_in), "gemm" (y, flops, bytes), "stages" (sweep, domain,
  /// operations_an_element, reductions, reads, writes, bytes, flops, is_taken_in, is_on_panels) and
  /// "totals" (gemm_flops, minimum_bytes, workspace_bytes). "shortcut" is null or the way without
  /// the GEMM (condition, decided_on, bytes, bytes_with_prepared_weights, rewrites, program), and
  /// "shortcut_refusal" says why there is none where there might be one; "leaves_out" of an engine
  /// why it takes in no stage. Extents are batch, rows, columns. Since: 0.1.
  std::string explain_json() const;

  /// One line of text for PlanOptions::gemm_choice of a later plan for the same problem, to be kept
  /// in a file, say: the engine and its algorithm, as PlanOptions::autotune or the library's
  /// heuristic found them. Since: 0.1.
  std::string gemm_choice() const;

  /// For the library's own use.
  const detail::PlanImplementation& implementation() const noexcept { return *implementation_; }

 private:
  std::shared_ptr<const detail::PlanImplementation> implementation_;
};

}  // namespace postlude

#endif
