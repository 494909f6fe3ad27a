#include "execute/footprint.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace postlude {
namespace detail {
namespace {

struct Dimension {
  std::int64_t stride;
  std::int64_t extent;
};

/// Dimensions of more than one element, with positive strides in increasing order.
std::vector<Dimension> sorted_dimensions(const Tensor& tensor) {
  std::vector<Dimension> dimensions;
  for (int i = 0; i < tensor.rank; ++i)
    if (tensor.extent[i] > 1)
      dimensions.push_back(
          {tensor.stride[i] < 0 ? -tensor.stride[i] : tensor.stride[i], tensor.extent[i]});
  std::sort(dimensions.begin(), dimensions.end(),
            [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  return dimensions;
}

bool is_empty(const Tensor& tensor) {
  for (int i = 0; i < tensor.rank; ++i)
    if (tensor.extent[i] == 0) return true;
  return false;
}

/// First byte, and the one past the last, that the tensor's elements touch.
std::pair<std::intptr_t, std::intptr_t> byte_range(const Tensor& tensor) {
  const auto element = static_cast<std::int64_t>(size_of(tensor.dtype));
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  for (int i = 0; i < tensor.rank; ++i) {
    const std::int64_t reach = (tensor.extent[i] - 1) * tensor.stride[i];
    (reach < 0 ? lowest : highest) += reach;
  }
  const auto base = reinterpret_cast<std::intptr_t>(tensor.data);
  return {base + lowest * element, base + (highest + 1) * element};
}

/// Bytes of a circle of some length, from `begin` on.
struct Arc {
  std::intptr_t begin;
  std::intptr_t bytes;
};

/// The tensor's addresses modulo `circle` bytes: strides that are multiples of it do not count.
Arc arc_of(const Tensor& tensor, std::intptr_t circle) {
  const auto element = static_cast<std::intptr_t>(size_of(tensor.dtype));
  Arc arc{byte_range(tensor).first % circle, element};
  if (arc.begin < 0) arc.begin += circle;
  for (const Dimension& dimension : sorted_dimensions(tensor)) {
    const std::intptr_t stride = dimension.stride * element;
    if (stride % circle != 0) arc.bytes += (dimension.extent - 1) * stride;
  }
  return arc;
}

bool are_apart(const Arc& a, const Arc& b, std::intptr_t circle) {
  const std::intptr_t to_b = (b.begin - a.begin + circle) % circle;
  const std::intptr_t to_a = (a.begin - b.begin + circle) % circle;
  return to_b >= a.bytes && to_a >= b.bytes && a.bytes + b.bytes <= circle;
}

/// Blocks of one parent, side by side: apart in every one of its lines, whose length is a stride of
/// one of them.
bool are_separate_blocks(const Tensor& a, const Tensor& b) {
  for (const Tensor* tensor : {&a, &b})
    for (const Dimension& dimension : sorted_dimensions(*tensor)) {
      const auto circle = static_cast<std::intptr_t>(
          dimension.stride * static_cast<std::int64_t>(size_of(tensor->dtype)));
      if (circle > 0 && are_apart(arc_of(a, circle), arc_of(b, circle), circle)) return true;
    }
  return false;
}

}  // namespace

bool overlaps_itself(const Tensor& tensor) {
  if (is_empty(tensor)) return false;
  std::int64_t reach = 0;
  for (const Dimension& dimension : sorted_dimensions(tensor)) {
    if (dimension.stride <= reach) return true;
    reach += (dimension.extent - 1) * dimension.stride;
  }
  return false;
}

bool may_overlap(const Tensor& a, const Tensor& b) {
  if (is_empty(a) || is_empty(b)) return false;
  const auto first = byte_range(a);
  const auto second = byte_range(b);
  if (first.second <= second.first || second.second <= first.first) return false;
  return !are_separate_blocks(a, b);
}

bool overlaps_bytes(const Tensor& tensor, const void* begin, std::size_t bytes) {
  if (is_empty(tensor) || bytes == 0) return false;
  const auto range = byte_range(tensor);
  const auto first = reinterpret_cast<std::intptr_t>(begin);
  return range.first < first + static_cast<std::intptr_t>(bytes) && first < range.second;
}

}  // namespace detail
}  // namespace postlude
