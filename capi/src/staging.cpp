#include "staging.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace postlude {
namespace detail {
namespace capi {
namespace {

struct Bytes {
  std::intptr_t begin;
  std::intptr_t end;
};

/// The bytes that a host tensor's elements lie in; nothing for one that has no memory to copy.
std::optional<Bytes> bytes_of(const Tensor& tensor) {
  if (tensor.memory_space != MemorySpace::host || tensor.data == nullptr) return std::nullopt;
  const auto element = static_cast<std::int64_t>(size_of(tensor.dtype));
  Bytes bytes{reinterpret_cast<std::intptr_t>(tensor.data),
              reinterpret_cast<std::intptr_t>(tensor.data)};
  for (int i = 0; i < tensor.rank; ++i) {
    if (tensor.extent[i] == 0) return std::nullopt;
    std::int64_t reach = 0;
    std::intptr_t& side = tensor.stride[i] < 0 ? bytes.begin : bytes.end;
    if (__builtin_mul_overflow(tensor.extent[i] - 1, tensor.stride[i], &reach) ||
        __builtin_mul_overflow(reach, element, &reach) ||
        __builtin_add_overflow(side, reach, &side))
      return std::nullopt;
  }
  if (__builtin_add_overflow(bytes.end, element, &bytes.end)) return std::nullopt;
  return bytes;
}

template <class Visit>
void for_each_element(const Tensor& tensor, const Visit& visit) {
  const auto extent = [&](int i) { return i < tensor.rank ? tensor.extent[i] : 1; };
  const auto stride = [&](int i) { return i < tensor.rank ? tensor.stride[i] : 0; };
  for (std::int64_t i = 0; i < extent(0); ++i)
    for (std::int64_t j = 0; j < extent(1); ++j)
      for (std::int64_t k = 0; k < extent(2); ++k)
        visit(i * stride(0) + j * stride(1) + k * stride(2));
}

/// `address` rounded down to the alignment of device memory, so that an address keeps its
/// remainder.
std::intptr_t aligned_down(std::intptr_t address) {
  return address & ~static_cast<std::intptr_t>(memory_alignment - 1);
}

}  // namespace

Staging::Staging(Device& device, const Arguments& arguments)
    : device_(device), host_(arguments), staged_(arguments) {
  add(arguments.x);
  add(arguments.w);
  for (const Binding& binding : arguments.bindings)
    if (!binding.is_scalar) add(binding.tensor);
  for (const Tensor& output : arguments.outputs) add(output);
  merge();
  allocate();
  move(staged_.x);
  move(staged_.w);
  for (Binding& binding : staged_.bindings)
    if (!binding.is_scalar) move(binding.tensor);
  for (Tensor& output : staged_.outputs) move(output);
}

Staging::~Staging() {
  if (memory_ == nullptr) return;
  try {
    device_.synchronize();
    device_.deallocate(memory_);
  } catch (...) {
    // A failed device has no memory left that could be released.
  }
}

void Staging::add(const Tensor& tensor) {
  if (const std::optional<Bytes> bytes = bytes_of(tensor))
    regions_.push_back({aligned_down(bytes->begin), bytes->end, 0});
}

void Staging::merge() {
  std::sort(regions_.begin(), regions_.end(),
            [](const Region& a, const Region& b) { return a.begin < b.begin; });
  std::vector<Region> merged;
  for (const Region& region : regions_) {
    if (merged.empty() || region.begin > merged.back().end)
      merged.push_back(region);
    else
      merged.back().end = std::max(merged.back().end, region.end);
  }
  regions_ = std::move(merged);
}

void Staging::allocate() {
  std::size_t bytes = 0;
  for (Region& region : regions_) {
    region.offset = bytes;
    const auto size = static_cast<std::size_t>(region.end - region.begin);
    bytes += (size + memory_alignment - 1) / memory_alignment * memory_alignment;
  }
  if (bytes > 0) memory_ = static_cast<char*>(device_.allocate(bytes));
}

const Staging::Region* Staging::region_of(const Tensor& tensor) const {
  const std::optional<Bytes> bytes = bytes_of(tensor);
  if (!bytes) return nullptr;
  const auto found = std::find_if(regions_.begin(), regions_.end(), [&](const Region& region) {
    return region.begin <= bytes->begin && bytes->end <= region.end;
  });
  return found == regions_.end() ? nullptr : &*found;
}

void Staging::move(Tensor& tensor) const {
  const Region* region = region_of(tensor);
  if (region == nullptr) return;
  tensor.data = address(*region) + (reinterpret_cast<std::intptr_t>(tensor.data) - region->begin);
  tensor.memory_space = MemorySpace::device;
}

void Staging::copy_in() const {
  // Not the whole region: its first bytes, before the aligned address, are nobody's.
  const auto copy = [&](const Tensor& tensor) {
    const Region* region = region_of(tensor);
    if (region == nullptr) return;
    const Bytes bytes = *bytes_of(tensor);
    device_.copy_to_backend(address(*region) + (bytes.begin - region->begin),
                            reinterpret_cast<const void*>(bytes.begin),
                            static_cast<std::size_t>(bytes.end - bytes.begin));
  };
  copy(host_.x);
  copy(host_.w);
  for (const Binding& binding : host_.bindings)
    if (!binding.is_scalar) copy(binding.tensor);
}

void Staging::copy_out() const {
  for (const Tensor& output : host_.outputs) {
    const Region* region = region_of(output);
    if (region == nullptr) continue;
    const Bytes bytes = *bytes_of(output);
    std::vector<char> copy(static_cast<std::size_t>(bytes.end - bytes.begin));
    device_.copy_to_host(copy.data(), address(*region) + (bytes.begin - region->begin),
                         copy.size());
    const std::size_t element = size_of(output.dtype);
    char* const data = static_cast<char*>(output.data);
    const std::intptr_t origin = reinterpret_cast<std::intptr_t>(output.data) - bytes.begin;
    for_each_element(output, [&](std::int64_t offset) {
      const std::int64_t place = offset * static_cast<std::int64_t>(element);
      std::memcpy(data + place, copy.data() + origin + place, element);
    });
  }
  device_.synchronize();
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude
