#include "support/test_tensor.hpp"

#include <algorithm>
#include <cstring>

namespace postlude {
namespace test {
namespace {

constexpr unsigned char poison = 0xff;
constexpr std::int64_t red_zone = 256;  ///< bytes before and after; keeps the alignment

std::int64_t span_bytes(DataType dtype, const std::vector<std::int64_t>& extents,
                        const std::vector<std::int64_t>& strides, std::int64_t& lowest) {
  lowest = 0;
  std::int64_t highest = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 0) return 0;
    const std::int64_t reach = (extents[i] - 1) * strides[i];
    (reach < 0 ? lowest : highest) += reach;
  }
  return (highest - lowest + 1) * static_cast<std::int64_t>(size_of(dtype));
}

/// The bytes of the host copy; sets the byte at which element (0, 0, 0) is.
std::size_t buffer_bytes(DataType dtype, const std::vector<std::int64_t>& extents,
                         const std::vector<std::int64_t>& strides, std::int64_t& origin) {
  std::int64_t lowest = 0;
  const std::int64_t span = span_bytes(dtype, extents, strides, lowest);
  origin = red_zone - lowest * static_cast<std::int64_t>(size_of(dtype));
  return static_cast<std::size_t>(span + 2 * red_zone);
}

bool all_poison(const unsigned char* bytes, std::size_t count) {
  return std::all_of(bytes, bytes + count, [](unsigned char byte) { return byte == poison; });
}

}  // namespace

std::string name_of(Layout layout) {
  switch (layout) {
    case Layout::row_major:
      return "row-major";
    case Layout::column_major:
      return "column-major";
    case Layout::padded_rows:
      return "padded rows";
    case Layout::padded_columns:
      return "padded columns";
    case Layout::every_second:
      return "every second element";
    case Layout::reversed:
      return "reversed";
  }
  return "?";
}

std::vector<std::int64_t> strides_of(Layout layout, const std::vector<std::int64_t>& extents) {
  const bool by_columns = layout == Layout::column_major || layout == Layout::padded_columns;
  const bool is_padded = layout != Layout::row_major && layout != Layout::column_major;
  const bool is_thinned = layout == Layout::every_second || layout == Layout::reversed;
  std::vector<std::int64_t> strides(extents.size(), 0);
  std::int64_t stride = is_thinned ? 2 : 1;
  const auto place = [&](std::size_t dimension) {
    strides[dimension] = layout == Layout::reversed ? -stride : stride;
    stride = stride * std::max<std::int64_t>(extents[dimension], 1) + (is_padded ? 3 : 0);
  };
  const std::size_t rank = extents.size();
  if (by_columns && rank >= 2) {
    place(rank - 2);
    place(rank - 1);
  } else {
    place(rank - 1);
    if (rank >= 2) place(rank - 2);
  }
  if (rank == 3) place(0);
  return strides;
}

TestTensor::TestTensor(DataType dtype, const std::vector<std::int64_t>& extents,
                       const std::vector<std::int64_t>& strides)
    : dtype_(dtype),
      extents_(extents),
      strides_(strides),
      host_(buffer_bytes(dtype, extents, strides, origin_), poison),
      device_(host_.size()) {
  upload();
}

TestTensor::TestTensor(DataType dtype, const std::vector<std::int64_t>& extents, Layout layout)
    : TestTensor(dtype, extents, strides_of(layout, extents)) {}

Tensor TestTensor::describe(char* bytes, MemorySpace space) const {
  Tensor tensor;
  tensor.data = bytes + origin_;
  tensor.dtype = dtype_;
  tensor.rank = static_cast<std::int32_t>(extents_.size());
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    tensor.extent[i] = extents_[i];
    tensor.stride[i] = strides_[i];
  }
  tensor.memory_space = space;
  return tensor;
}

Tensor TestTensor::host() const {
  return describe(reinterpret_cast<char*>(const_cast<unsigned char*>(host_.data())),
                  MemorySpace::host);
}

Tensor TestTensor::device() const { return describe(device_.data(), memory_space()); }

std::int64_t TestTensor::offset(std::int64_t i, std::int64_t j, std::int64_t k) const {
  const std::int64_t indices[] = {i, j, k};
  std::int64_t elements = 0;
  for (std::size_t d = 0; d < extents_.size(); ++d) elements += indices[d] * strides_[d];
  return origin_ + elements * static_cast<std::int64_t>(size_of(dtype_));
}

double TestTensor::get(std::int64_t i, std::int64_t j, std::int64_t k) const {
  const unsigned char* at = host_.data() + offset(i, j, k);
  double f64 = 0;
  float f32 = 0;
  std::int64_t i64 = 0;
  switch (dtype_) {
    case DataType::float64:
      std::memcpy(&f64, at, sizeof f64);
      return f64;
    case DataType::float32:
      std::memcpy(&f32, at, sizeof f32);
      return static_cast<double>(f32);
    default:
      std::memcpy(&i64, at, sizeof i64);
      return static_cast<double>(i64);
  }
}

void TestTensor::set(double value, std::int64_t i, std::int64_t j, std::int64_t k) {
  unsigned char* at = host_.data() + offset(i, j, k);
  const auto f32 = static_cast<float>(value);
  const auto i64 = dtype_ == DataType::int64 ? static_cast<std::int64_t>(value) : 0;
  switch (dtype_) {
    case DataType::float64:
      std::memcpy(at, &value, sizeof value);
      break;
    case DataType::float32:
      std::memcpy(at, &f32, sizeof f32);
      break;
    default:
      std::memcpy(at, &i64, sizeof i64);
      break;
  }
}

void TestTensor::for_each_index(
    const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) const {
  const auto extent_or_1 = [&](std::size_t d) { return d < extents_.size() ? extents_[d] : 1; };
  for (std::int64_t i = 0; i < extent_or_1(0); ++i)
    for (std::int64_t j = 0; j < extent_or_1(1); ++j)
      for (std::int64_t k = 0; k < extent_or_1(2); ++k) visit(i, j, k);
}

std::vector<double> TestTensor::elements() const {
  std::vector<double> values;
  for_each_index(
      [&](std::int64_t i, std::int64_t j, std::int64_t k) { values.push_back(get(i, j, k)); });
  return values;
}

void TestTensor::fill(const std::function<double()>& next) {
  for_each_index([&](std::int64_t i, std::int64_t j, std::int64_t k) { set(next(), i, j, k); });
}

void TestTensor::fill(const std::vector<double>& values) {
  std::size_t at = 0;
  fill([&] { return values.at(at++); });
}

void TestTensor::upload() { device_.copy_from_host(host_.data()); }
void TestTensor::download() { device_.copy_to_host(host_.data()); }

bool TestTensor::is_poison_around() const {
  std::vector<unsigned char> rest = host_;
  for_each_index([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    std::memset(rest.data() + offset(i, j, k), poison, size_of(dtype_));
  });
  return all_poison(rest.data(), rest.size());
}

bool TestTensor::is_untouched() const { return all_poison(host_.data(), host_.size()); }

}  // namespace test
}  // namespace postlude
