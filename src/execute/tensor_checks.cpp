#include "execute/tensor_checks.hpp"

#include <postlude/error.hpp>

#include "execute/memory.hpp"

namespace postlude {
namespace detail {
namespace {

constexpr std::int64_t limit = std::int64_t(1) << 62;

std::int64_t magnitude(std::int64_t value) { return value < 0 ? -value : value; }

void require_dtype(const Tensor& tensor, const TensorName& name) {
  if (size_of(tensor.dtype) == 0)
    throw Error(Status::invalid_argument, name + " has dtype " +
                                              std::to_string(static_cast<int>(tensor.dtype)) +
                                              ": expected a DataType (1 to 5)");
}

}  // namespace

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0) return -1;
  return a != 0 && b > limit / a ? -1 : a * b;
}

std::int64_t element_count(const Tensor& tensor) {
  std::int64_t count = 1;
  for (int i = 0; i < tensor.rank; ++i) count *= tensor.extent[i];
  return count;
}

std::string extents_text(const Tensor& tensor) {
  std::string text;
  for (int i = 0; i < tensor.rank && i < 3; ++i)
    text += (i == 0 ? "" : "x") + std::to_string(tensor.extent[i]);
  return text;
}

std::string form_text(const Tensor& tensor) {
  return std::string(name_of(tensor.dtype)) + " " + extents_text(tensor);
}

void require_valid_description(const Tensor& tensor, const TensorName& name) {
  require_dtype(tensor, name);
  if (tensor.rank < 1 || tensor.rank > 3)
    throw Error(Status::invalid_argument,
                name + " has rank " + std::to_string(tensor.rank) + ": expected 1, 2 or 3");
  std::int64_t elements = 1;
  std::int64_t reach = 1;
  for (int i = 0; i < tensor.rank; ++i) {
    if (tensor.extent[i] < 0)
      throw Error(Status::invalid_argument,
                  name + " has extent " + std::to_string(tensor.extent[i]) + " in dimension " +
                      std::to_string(i) + ": expected 0 or more");
    elements = checked_product(elements, tensor.extent[i]);
    // INT64_MIN has no magnitude.
    const bool has_magnitude = tensor.stride[i] != INT64_MIN;
    const std::int64_t span =
        has_magnitude ? checked_product(tensor.extent[i], magnitude(tensor.stride[i])) : -1;
    reach = span < 0 || reach < 0 || reach > limit - span ? -1 : reach + span;
  }
  const auto element = static_cast<std::int64_t>(size_of(tensor.dtype));
  if (checked_product(elements, element) < 0 || checked_product(reach, element) < 0)
    throw Error(Status::invalid_argument, name + " has extents " + extents_text(tensor) +
                                              " and strides whose addresses overflow 62 bits");
}

void require_usable(const Tensor& tensor, const TensorName& name, Backend backend) {
  require_valid_description(tensor, name);
  if (element_count(tensor) == 0) return;
  if (tensor.data == nullptr)
    throw Error(Status::invalid_argument,
                name + " has null data: expected " + extents_text(tensor) + " elements");
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % size_of(tensor.dtype) != 0)
    throw Error(Status::invalid_argument, name + " is misaligned: expected a multiple of " +
                                              std::to_string(size_of(tensor.dtype)) + " bytes");
  if (!is_reachable(backend, tensor.memory_space) || !is_plausible_address(backend, tensor.data))
    throw Error(Status::wrong_memory_space,
                name + " is in memory that backend " + name_of(backend) +
                    " cannot reach: expected " +
                    (is_reachable(backend, MemorySpace::host) ? "host" : "device") + " memory");
}

bool same_form(const Tensor& a, const Tensor& b) {
  bool same = a.dtype == b.dtype && a.rank == b.rank;
  for (int i = 0; same && i < a.rank; ++i) same = a.extent[i] == b.extent[i];
  return same;
}

int different_stride(const Tensor& a, const Tensor& b) {
  // The stride of a single element, or of none, is never used.
  if (element_count(a) == 0) return -1;
  for (int i = 0; i < a.rank; ++i)
    if (a.extent[i] > 1 && a.stride[i] != b.stride[i]) return i;
  return -1;
}

}  // namespace detail
}  // namespace postlude
