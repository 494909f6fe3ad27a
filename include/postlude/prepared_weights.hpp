#ifndef POSTLUDE_PREPARED_WEIGHTS_HPP
#define POSTLUDE_PREPARED_WEIGHTS_HPP

#include <cstddef>
#include <memory>

#include <postlude/execution_space.hpp>
#include <postlude/plan.hpp>
#include <postlude/tensor.hpp>

namespace postlude {

namespace detail {
class PreparedWeightsImplementation;
}

/// w in the form in which a plan's engine computes with it, made once for many executions.
///
/// The engines `split` and, for float32, `hopper` take w apart in two float16 parts, as much memory
/// as w itself; rows of w that hold infinities, NaN, or elements below 2^-28 of the row's largest
/// are kept in float32 beside them. `onednn` lays w out in oneDNN's blocks, with zeros up to whole
/// ones, and `microkernel` in blocks of columns. The other engines use w as it is, and executions
/// still read it; so do plans of `onednn` for one row, a batch, column-major y or panels of
/// columns, and of `microkernel` for a batch. For a plan with a shortcut without the GEMM the
/// largest magnitudes of w, and sums over its rows where they are wanted, are kept as well; where
/// there is none of either, bytes() is 0.
///
/// Shapes: as the plan's w. Strides: any, as the plan's w or other ones. dtype: that of the plan.
/// Ownership: holds memory of its own; copies of the object share it. w may be freed or changed
/// afterwards: executions use what w was when it was prepared.
///
/// Give them to an execution as Arguments::prepared_weights. They serve every plan of the same
/// engine, backend, device and shape of w, whatever its batch and epilogue; a plan of another
/// engine reads w itself. Arguments::w may then have null data where it is not read all the same;
/// if it has data, it must be the tensor that the weights were prepared from, since other ones
/// would be stale.
///
/// Threads: several executions may use them at once. refresh() may not be called while one of them
/// runs. Errors: the constructor throws Error: as an execution for w, out_of_memory,
/// backend_failure. Since: 0.1.
class PreparedWeights {
 public:
  /// Prepares w for the engine of `plan`, on the space that the plan was made with.
  PreparedWeights(const Plan& plan, const Tensor& w);
  /// The same on `space`, an instance of the plan's backend. Complete on return.
  PreparedWeights(const ExecutionSpace& space, const Plan& plan, const Tensor& w);

  /// Bytes of memory that they hold.
  std::size_t bytes() const noexcept;

  /// Prepares w anew, after its elements have changed or from another tensor of the same extents
  /// and dtype, with any strides. Complete on return.
  ///
  /// Errors: Error(shape_mismatch, invalid_argument, wrong_memory_space, out_of_memory,
  /// backend_failure); after the last two the weights cannot be used until a refresh succeeds.
  void refresh(const ExecutionSpace& space, const Tensor& w);

  /// For the library's own use.
  const detail::PreparedWeightsImplementation& implementation() const noexcept {
    return *implementation_;
  }

 private:
  std::shared_ptr<detail::PreparedWeightsImplementation> implementation_;
};

}  // namespace postlude

#endif
