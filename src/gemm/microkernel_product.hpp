#ifndef POSTLUDE_GEMM_MICROKERNEL_PRODUCT_HPP
#define POSTLUDE_GEMM_MICROKERNEL_PRODUCT_HPP

#include <cstddef>
#include <cstdint>

#include "gemm/microkernel_panel.hpp"
#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// Memory of one run.
struct ProductMemory {
  const float* x = nullptr;
  RowsOfW w;
  float* y = nullptr;
  float* workspace = nullptr;  ///< of workspace_bytes(), aligned to 64 bytes
};

/// How a product is cut for the caches, and its threads. The order of additions depends on K alone.
///
/// Units of up to 256 rows of x are packed. A thread takes a unit and a panel of columns of y: for
/// each block of K, few rows of w at a time are multiplied with all of the unit, and the sums of
/// the panel, kept transposed, go to y at the end. So w is read where it lies, the vectors run
/// along the rows of x, and nothing of w has to be transposed.
class MicrokernelProduct {
 public:
  /// For this problem, of K > 0, and all smaller ones of the same K and strides of w.
  MicrokernelProduct(const GemmProblem& problem, std::int64_t threads);

  std::size_t workspace_bytes() const;
  /// Whether all of x is packed at once, so that threads may compute panels alone.
  bool packs_all() const { return units_ <= units_at_once_; }

  /// All of y, by all threads.
  void run(const GemmProblem& problem, const ProductMemory& memory) const;

  /// Packs x, by all threads; then run_panel() computes columns of y on one of them. Where
  /// packs_all(), for a batch of one. `problem` and the memory of run_panel() are those of the
  /// panel, whose x is not read.
  void pack(const GemmProblem& problem, const ProductMemory& memory) const;
  void run_panel(std::int64_t thread, const GemmProblem& problem,
                 const ProductMemory& memory) const;

 private:
  /// Rows of x of one of the batch's matrices.
  struct Unit {
    std::int64_t batch;
    std::int64_t row;
    std::int64_t rows;
  };

  Unit unit_of(const GemmProblem& problem, std::int64_t index) const;
  std::int64_t unit_count(const GemmProblem& problem) const;
  std::int64_t floats_of_unit() const { return unit_lanes_ * depth_; }
  void pack_units(const GemmProblem& problem, const ProductMemory& memory, std::int64_t first,
                  std::int64_t count, std::int64_t threads) const;
  /// Columns of y from one on, for a packed unit.
  void multiply(std::int64_t thread, const GemmProblem& problem, const ProductMemory& memory,
                const Unit& unit, const float* packed, std::int64_t column,
                std::int64_t columns) const;

  std::int64_t threads_;
  std::int64_t depth_;             ///< K
  std::int64_t unit_lanes_;        ///< rows of x in a unit, in whole vectors
  std::int64_t units_;             ///< of all of x
  std::int64_t units_at_once_;     ///< that are packed before they are multiplied
  std::int64_t panel_columns_;     ///< of y, that a thread computes at a time
  std::int64_t floats_of_sums_;    ///< of a thread, for the panel's sums
  std::int64_t floats_of_thread_;  ///< the sums, and rows of w where these have to be copied
};

}  // namespace detail
}  // namespace postlude

#endif
