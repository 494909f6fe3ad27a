#ifndef POSTLUDE_GEMM_ONEDNN_MATMUL_HPP
#define POSTLUDE_GEMM_ONEDNN_MATMUL_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// The layout that oneDNN's kernels want a matrix in, which is then made of a plain one.
class OneDnnFormat;

bool operator==(const OneDnnFormat& left, const OneDnnFormat& right);
std::size_t bytes_of(const OneDnnFormat& format);

/// c = a b in float32, for each of a batch; a is rows x depth, b depth x columns. c has contiguous
/// rows, a and b contiguous rows or columns.
struct OneDnnShape {
  std::int64_t batch = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  MatrixStrides a;  ///< a batch stride of 0: one matrix for the whole batch
  MatrixStrides b;  ///< likewise; of no meaning where b has a format
  /// That of b, for a batch of one; null for plain rows or columns.
  std::shared_ptr<const OneDnnFormat> b_format;
  MatrixStrides c;
  int threads = 1;
};

bool operator==(const OneDnnShape& left, const OneDnnShape& right);

/// The format that the kernels for a shape of a batch of one want b in; null where they want it as
/// the shape says, or oneDNN refuses.
std::shared_ptr<const OneDnnFormat> wanted_format_of_b(const OneDnnShape& shape);

/// Writes the shape's plain b to memory of bytes_of(format).
void write_b(const OneDnnShape& shape, const float* b, const OneDnnFormat& format, float* to);

/// One of oneDNN's primitives, for a shape and a number of threads.
class OneDnnMatmul {
 public:
  /// Asks oneDNN how it would compute the shape, which takes microseconds. Throws
  /// Error(unsupported) where it does not.
  explicit OneDnnMatmul(const OneDnnShape& shape);
  ~OneDnnMatmul();

  const OneDnnShape& shape() const { return shape_; }
  /// oneDNN's name for the kernels that it has chosen.
  const std::string& implementation() const { return implementation_; }
  /// Whether they are oneDNN's plain loops, which take everything and are many times slower.
  bool is_reference() const;
  std::size_t scratchpad_bytes() const { return scratchpad_bytes_; }

  /// Generates the kernels, a fraction of a millisecond, unless that has been done.
  void make_ready() const;

  /// Several threads may call it at once, each with a scratchpad of its own, aligned to 64 bytes.
  /// Not inside a parallel region unless it was made for one thread.
  void run(const float* a, const float* b, float* c, void* scratchpad) const;

 private:
  struct Primitive;

  OneDnnShape shape_;
  std::string implementation_;
  std::size_t scratchpad_bytes_ = 0;
  std::unique_ptr<Primitive> primitive_;
};

}  // namespace detail
}  // namespace postlude

#endif
