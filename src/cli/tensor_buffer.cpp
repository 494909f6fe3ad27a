#include "tensor_buffer.hpp"

#include <cstring>

#include "element_type.hpp"

namespace postlude {
namespace cli {
namespace {

// The extents come from checked shapes, so that their product does not overflow.
std::size_t elements_of(const postlude_tensor& tensor) {
  std::size_t elements = 1;
  for (int i = 0; i < tensor.rank; ++i) elements *= static_cast<std::size_t>(tensor.extent[i]);
  return elements;
}

}  // namespace

TensorBuffer::TensorBuffer(postlude_context* context, const postlude_tensor& description)
    : context_(context),
      elements_(elements_of(description)),
      bytes_(elements_ * element_bytes(description.dtype)),
      backend_(context, bytes_),
      on_host_(description),
      on_backend_(description) {
  require(postlude_context_memory_space(context, &on_backend_.memory_space));
  on_backend_.data = backend_.data();
  on_host_.memory_space = POSTLUDE_HOST;
  if (on_backend_.memory_space == POSTLUDE_HOST) {
    on_host_.data = backend_.data();
  } else {
    // Not std::make_unique, which would write every byte.
    host_.reset(new unsigned char[bytes_]);
    on_host_.data = host_.get();
  }
}

void TensorBuffer::copy_to_backend() {
  if (host_) require(postlude_copy_to_backend(context_, on_backend_.data, on_host_.data, bytes_));
}

void TensorBuffer::copy_to_host() {
  if (host_) require(postlude_copy_to_host(context_, on_host_.data, on_backend_.data, bytes_));
}

void TensorBuffer::poison() {
  if (bytes_ > 0) std::memset(on_host_.data, 0xff, bytes_);
  copy_to_backend();
}

}  // namespace cli
}  // namespace postlude
