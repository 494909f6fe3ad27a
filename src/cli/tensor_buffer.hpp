#ifndef POSTLUDE_CLI_TENSOR_BUFFER_HPP
#define POSTLUDE_CLI_TENSOR_BUFFER_HPP

#include <postlude.h>

#include <cstddef>
#include <memory>

#include "handles.hpp"

namespace postlude {
namespace cli {

/// A dense tensor in memory of the backend, with a host copy where the host cannot reach that
/// memory. On CPUs both are the same memory and copies cost nothing.
class TensorBuffer {
 public:
  /// Allocates for `description`, a dense tensor whose data pointer is not used.
  TensorBuffer(postlude_context* context, const postlude_tensor& description);

  void copy_to_backend();
  void copy_to_host();
  /// Overwrites every element with NaN (with -1 for int64), so that an element that an execution
  /// leaves out is noticed.
  void poison();

  void* host_data() const { return on_host_.data; }
  std::size_t elements() const { return elements_; }
  std::size_t bytes() const { return bytes_; }
  const postlude_tensor& on_host() const { return on_host_; }
  const postlude_tensor& on_backend() const { return on_backend_; }

 private:
  postlude_context* context_;
  std::size_t elements_;
  std::size_t bytes_;
  BackendMemory backend_;
  std::unique_ptr<unsigned char[]> host_;
  postlude_tensor on_host_;
  postlude_tensor on_backend_;
};

}  // namespace cli
}  // namespace postlude

#endif
