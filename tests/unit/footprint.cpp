#include <cstdint>
#include <set>
#include <vector>

#include "execute/footprint.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

using namespace postlude;
using postlude::test::Random;

namespace {

// Addresses are only compared, never read.
Tensor tensor_at(std::intptr_t address, DataType dtype, const std::vector<std::int64_t>& extents,
                 const std::vector<std::int64_t>& strides) {
  Tensor tensor;
  tensor.data = reinterpret_cast<void*>(address);
  tensor.dtype = dtype;
  tensor.rank = static_cast<int>(extents.size());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    tensor.extent[i] = extents[i];
    tensor.stride[i] = strides[i];
  }
  return tensor;
}

std::set<std::intptr_t> bytes_of(const Tensor& tensor) {
  std::set<std::intptr_t> bytes;
  const auto element = static_cast<std::intptr_t>(size_of(tensor.dtype));
  const auto extent = [&](int i) { return i < tensor.rank ? tensor.extent[i] : 1; };
  const auto stride = [&](int i) { return i < tensor.rank ? tensor.stride[i] : 0; };
  for (std::int64_t i = 0; i < extent(0); ++i)
    for (std::int64_t j = 0; j < extent(1); ++j)
      for (std::int64_t k = 0; k < extent(2); ++k)
        for (std::intptr_t byte = 0; byte < element; ++byte)
          bytes.insert(reinterpret_cast<std::intptr_t>(tensor.data) +
                       (i * stride(0) + j * stride(1) + k * stride(2)) * element + byte);
  return bytes;
}

bool share_a_byte(const Tensor& a, const Tensor& b) {
  const std::set<std::intptr_t> first = bytes_of(a);
  for (const std::intptr_t byte : bytes_of(b))
    if (first.count(byte) != 0) return true;
  return false;
}

constexpr std::intptr_t base = 1 << 20;
constexpr DataType f32 = DataType::float32;

}  // namespace

TEST_CASE("blocks side by side in one larger matrix are apart", "[unit]") {
  const Tensor matrix = tensor_at(base, f32, {4, 5}, {10, 1});
  const auto right = base + 5 * 4;
  CHECK_FALSE(detail::may_overlap(matrix, tensor_at(right, f32, {4, 5}, {10, 1})));
  // The sums of the rows beside them.
  CHECK_FALSE(detail::may_overlap(matrix, tensor_at(right, f32, {4, 1}, {10, 1})));
  CHECK_FALSE(detail::may_overlap(matrix, tensor_at(right, f32, {4}, {10})));
  CHECK_FALSE(detail::may_overlap(tensor_at(base, f32, {4}, {6}),
                                  tensor_at(base + 4, f32, {4, 5}, {6, 1})));
  // Another dtype, a batch, a part of the height, backwards.
  CHECK_FALSE(detail::may_overlap(tensor_at(base, f32, {4, 4}, {12, 1}),
                                  tensor_at(base + 16, DataType::float64, {4, 4}, {6, 1})));
  CHECK_FALSE(detail::may_overlap(tensor_at(base, f32, {3, 4, 5}, {40, 10, 1}),
                                  tensor_at(right, f32, {3, 4, 5}, {40, 10, 1})));
  CHECK_FALSE(detail::may_overlap(matrix, tensor_at(right, f32, {1, 5}, {10, 1})));
  CHECK_FALSE(detail::may_overlap(matrix, tensor_at(right + 30 * 4, f32, {4, 5}, {-10, 1})));
  // One column too far to the left.
  CHECK(detail::may_overlap(matrix, tensor_at(right - 4, f32, {4, 5}, {10, 1})));
  CHECK(detail::may_overlap(matrix, tensor_at(right - 4, f32, {4}, {10})));
  CHECK(detail::may_overlap(matrix, tensor_at(right + 4, f32, {4, 5}, {10, 1})));
}

TEST_CASE("tensors that share a byte are never taken to be apart", "[unit]") {
  Random random;
  INFO(random.hint());
  const DataType dtypes[] = {DataType::float64, f32, DataType::float16};
  const auto any = [&] {
    std::vector<std::int64_t> extents;
    std::vector<std::int64_t> strides;
    const auto rank = 1 + random.below(3);
    for (std::int64_t i = 0; i < rank; ++i) {
      extents.push_back(1 + random.below(4));
      strides.push_back(random.below(25) - 12);
    }
    return tensor_at(base + 2 * random.below(60), dtypes[random.below(3)], extents, strides);
  };
  int apart = 0;
  for (int i = 0; i < 20000; ++i) {
    const Tensor a = any();
    const Tensor b = any();
    CHECK(detail::may_overlap(a, b) == detail::may_overlap(b, a));
    if (detail::may_overlap(a, b)) continue;
    ++apart;
    if (share_a_byte(a, b)) {
      INFO("a: " << a.rank << " dimensions at " << a.data << ", b: " << b.rank << " at " << b.data);
      FAIL_CHECK("they share a byte");
    }
  }
  CHECK(apart > 100);
}
