#ifndef POSTLUDE_PERF_DATA_HPP
#define POSTLUDE_PERF_DATA_HPP

#include <postlude/execution_space.hpp>
#include <postlude/plan.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "case.hpp"
#include "execute/memory.hpp"

namespace postlude {
namespace perf {

/// A tensor with memory of the backend, row-major.
class DeviceTensor {
 public:
  DeviceTensor(const ExecutionSpace& space, DataType dtype, std::int64_t rows,
               std::int64_t columns);

  const Tensor& tensor() const { return tensor_; }
  std::size_t bytes() const { return buffer_.bytes(); }

  /// Uniform numbers in [low, high), rounded to the dtype.
  void fill_uniform(const ExecutionSpace& space, std::uint64_t seed, double low, double high);
  /// A NaN in every element, so that an element that is not written is found.
  void poison(const ExecutionSpace& space) const;
  /// The bytes, in host memory; waits for the work on `space`.
  std::vector<unsigned char> to_host(const ExecutionSpace& space) const;

 private:
  detail::BackendBuffer buffer_;
  Tensor tensor_;
};

/// x, w and the operands of a problem, in several copies with different numbers: x uniform in
/// [0, 1), w and the operands uniform in +-1/sqrt(K).
class Inputs {
 public:
  /// Makes at least 3 copies, and as many more as it takes to exceed `bytes_wanted` together.
  Inputs(const ExecutionSpace& space, const Case& what, std::size_t bytes_wanted,
         std::uint64_t seed);

  /// Whether they serve this case too: the same dtype and size.
  bool fit(const Case& what) const;

  int copies() const { return static_cast<int>(copies_.size()); }
  /// Makes the operands of `what` that no case before had.
  void add_operands(const Case& what);
  /// Arguments of an execution on a copy, without outputs.
  Arguments arguments(const Case& what, int copy) const;
  const DeviceTensor& x(int copy) const { return copies_[static_cast<std::size_t>(copy)].x; }
  const DeviceTensor& w(int copy) const { return copies_[static_cast<std::size_t>(copy)].w; }
  const DeviceTensor& operand(const std::string& name, int copy) const {
    return copies_[static_cast<std::size_t>(copy)].operands.at(name);
  }

 private:
  struct Copy {
    DeviceTensor x;
    DeviceTensor w;
    std::map<std::string, DeviceTensor> operands;
  };

  ExecutionSpace space_;
  DataType dtype_;
  std::int64_t m_, n_, k_;
  std::uint64_t seed_;
  std::vector<Copy> copies_;
};

}  // namespace perf
}  // namespace postlude

#endif
