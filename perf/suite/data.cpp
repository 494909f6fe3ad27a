#include "data.hpp"

#include <cmath>

#include "compat/with_instance.hpp"
#include "evaluator/small_floats.hpp"
#include "random_fill.hpp"

namespace postlude {
namespace perf {
namespace {

template <class Element>
POSTLUDE_FUNCTION void store(void* data, std::int64_t i, double value) {
  static_cast<Element*>(data)[i] = detail::Convert<Element, double>::from(value);
}

/// Of any dtype that inputs have: one kernel for a backend, since nobody times it.
struct UniformFill {
  void* data;
  DataType dtype;
  std::uint64_t seed;
  double low, high;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const double value = low + (high - low) * random_uniform(seed, i);
    switch (dtype) {
      case DataType::float64:
        return store<double>(data, i, value);
      case DataType::float32:
        return store<float>(data, i, value);
      case DataType::float16:
        return store<detail::Float16>(data, i, value);
      case DataType::bfloat16:
        return store<detail::BFloat16>(data, i, value);
      case DataType::int64:
        return;  // no input has such elements
    }
  }
};

struct ByteFill {
  unsigned char* data;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { data[i] = 0xff; }
};

template <class Space>
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

/// Seeds of the tensors of one run.
std::uint64_t seed_of(std::uint64_t seed, int copy, const std::string& name) {
  std::uint64_t hash = seed ^ 0xcbf29ce484222325ull;
  for (const char c : std::to_string(copy) + name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

}  // namespace

DeviceTensor::DeviceTensor(const ExecutionSpace& space, DataType dtype, std::int64_t rows,
                           std::int64_t columns)
    : buffer_(space, static_cast<std::size_t>(rows * columns) * size_of(dtype)) {
  tensor_.data = buffer_.data();
  tensor_.dtype = dtype;
  tensor_.extent[0] = rows;
  tensor_.extent[1] = columns;
  tensor_.stride[0] = columns;
  tensor_.stride[1] = 1;
  tensor_.memory_space = space.backend() == Backend::cuda ? MemorySpace::device : MemorySpace::host;
}

void DeviceTensor::fill_uniform(const ExecutionSpace& space, std::uint64_t seed, double low,
                                double high) {
  const std::int64_t count = tensor_.extent[0] * tensor_.extent[1];
  detail::with_instance(space, [&](const auto& instance) {
    using Space = std::decay_t<decltype(instance)>;
    Kokkos::parallel_for("postlude::perf::fill", Range<Space>(instance, 0, count),
                         UniformFill{tensor_.data, tensor_.dtype, seed, low, high});
  });
}

void DeviceTensor::poison(const ExecutionSpace& space) const {
  detail::with_instance(space, [&](const auto& instance) {
    using Space = std::decay_t<decltype(instance)>;
    Kokkos::parallel_for("postlude::perf::poison",
                         Range<Space>(instance, 0, static_cast<std::int64_t>(bytes())),
                         ByteFill{static_cast<unsigned char*>(buffer_.data())});
  });
}

std::vector<unsigned char> DeviceTensor::to_host(const ExecutionSpace& space) const {
  std::vector<unsigned char> host(static_cast<std::size_t>(tensor_.extent[0] * tensor_.extent[1]) *
                                  size_of(tensor_.dtype));
  detail::with_instance(space, [&](const auto& instance) {
    using Memory = typename std::decay_t<decltype(instance)>::memory_space;
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const Kokkos::View<const unsigned char*, Memory, Unmanaged> from(
        static_cast<const unsigned char*>(buffer_.data()), host.size());
    const Kokkos::View<unsigned char*, Kokkos::HostSpace, Unmanaged> to(host.data(), host.size());
    instance.fence();
    Kokkos::deep_copy(to, from);
  });
  return host;
}

Inputs::Inputs(const ExecutionSpace& space, const Case& what, std::size_t bytes_wanted,
               std::uint64_t seed)
    : space_(space), dtype_(what.dtype), m_(what.m), n_(what.n), k_(what.k), seed_(seed) {
  constexpr std::size_t fewest = 3;
  constexpr std::size_t most = 64;  // beyond that, small problems take long to fill
  const std::size_t bytes = static_cast<std::size_t>((m_ + n_) * k_) * size_of(dtype_);
  const std::size_t count = std::min(most, std::max(fewest, bytes_wanted / bytes + 1));
  const double bound = 1 / std::sqrt(static_cast<double>(k_));
  for (std::size_t i = 0; i < count; ++i) {
    const int copy = static_cast<int>(i);
    copies_.push_back(
        {DeviceTensor(space, dtype_, m_, k_), DeviceTensor(space, dtype_, n_, k_), {}});
    copies_[i].x.fill_uniform(space, seed_of(seed_, copy, "x"), 0, 1);
    copies_[i].w.fill_uniform(space, seed_of(seed_, copy, "w"), -bound, bound);
  }
}

bool Inputs::fit(const Case& what) const {
  return what.dtype == dtype_ && what.m == m_ && what.n == n_ && what.k == k_;
}

void Inputs::add_operands(const Case& what) {
  const double bound = 1 / std::sqrt(static_cast<double>(k_));
  for (const CaseOperand& operand : what.operands) {
    if (operand.kind == OperandKind::scalar) continue;
    for (int copy = 0; copy < copies(); ++copy) {
      auto& operands = copies_[static_cast<std::size_t>(copy)].operands;
      if (operands.count(operand.name) != 0) continue;
      const std::int64_t rows = operand.kind == OperandKind::row ? 1 : m_;
      const std::int64_t columns = operand.kind == OperandKind::column ? 1 : n_;
      auto& made =
          operands.emplace(operand.name, DeviceTensor(space_, dtype_, rows, columns)).first->second;
      made.fill_uniform(space_, seed_of(seed_, copy, operand.name), -bound, bound);
    }
  }
}

Arguments Inputs::arguments(const Case& what, int copy) const {
  Arguments arguments;
  arguments.x = x(copy).tensor();
  arguments.w = w(copy).tensor();
  for (const CaseOperand& entry : what.operands) {
    if (entry.kind == OperandKind::scalar)
      arguments.bindings.emplace_back(entry.name, entry.number);
    else
      arguments.bindings.emplace_back(entry.name, operand(entry.name, copy).tensor());
  }
  return arguments;
}

}  // namespace perf
}  // namespace postlude
