#ifndef POSTLUDE_CAPI_STAGING_HPP
#define POSTLUDE_CAPI_STAGING_HPP

#include <postlude/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device.hpp"

namespace postlude {
namespace detail {
namespace capi {

/// The arguments of an execution with every host tensor in memory of a device instead.
///
/// Host tensors whose bytes overlap or touch lie in the same place relative to each other there, so
/// that validating the arguments on the device refuses what would have been refused on the host,
/// overlaps and misaligned addresses included. A tensor that cannot have memory (null, empty, or
/// larger than the address space) is left as it is, for validation to judge.
///
/// Errors: Error(out_of_memory, backend_failure).
class Staging {
 public:
  /// Allocates; copies nothing.
  Staging(Device& device, const Arguments& arguments);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const Arguments& arguments() const { return staged_; }

  /// Copies the inputs to the device.
  void copy_in() const;
  /// Waits for the device, and writes the elements of the outputs, and nothing else, on the host.
  void copy_out() const;

 private:
  /// Bytes of the host, and where they are in the device's allocation.
  struct Region {
    std::intptr_t begin;
    std::intptr_t end;
    std::size_t offset;
  };

  void add(const Tensor& tensor);
  void merge();
  void allocate();
  void move(Tensor& tensor) const;
  const Region* region_of(const Tensor& tensor) const;
  char* address(const Region& region) const { return memory_ + region.offset; }

  Device& device_;
  Arguments host_;
  Arguments staged_;
  std::vector<Region> regions_;
  char* memory_ = nullptr;
};

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
