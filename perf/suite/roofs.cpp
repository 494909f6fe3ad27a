#include "roofs.hpp"

#include "compat/with_instance.hpp"
#include "peer.hpp"
#include "statistics.hpp"

namespace postlude {
namespace perf {
namespace {

/// By the vendor's copy within the backend's memory, where it has one.
double copy_bytes_per_second(const ExecutionSpace& space, std::int64_t bytes, std::uint64_t seed) {
  const std::int64_t count = bytes / 8;
  DeviceTensor from(space, DataType::float64, 1, count);
  const DeviceTensor to(space, DataType::float64, 1, count);
  from.fill_uniform(space, seed, 0, 1);
  const Samples samples = sample(space, 1, 5, 0, [&](int) {
    detail::with_instance(space, [&](const auto& instance) {
      using Memory = typename std::decay_t<decltype(instance)>::memory_space;
      const auto view = [count](const DeviceTensor& tensor) {
        return Kokkos::View<double*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            static_cast<double*>(tensor.tensor().data), static_cast<std::size_t>(count));
      };
      Kokkos::deep_copy(instance, view(to), view(from));
    });
  });
  return 2.0 * static_cast<double>(bytes) / statistics_of(samples.seconds).minimum;
}

double gemm_flops_per_second(const ExecutionSpace& space, DataType dtype, std::int64_t extent,
                             std::uint64_t seed) {
  Case what;
  what.text = "y";
  what.dtype = dtype;
  what.m = what.n = what.k = extent;
  const Inputs inputs(space, what, 0, seed);
  std::vector<DeviceTensor> outputs;
  for (int i = 0; i < inputs.copies(); ++i) outputs.emplace_back(space, dtype, extent, extent);
  const Work work = make_postlude(space.backend(), ComputeMode::automatic, false, "kokkos_kernels")
                        ->prepare(space, what, inputs, outputs);
  const Samples samples = sample(space, inputs.copies(), 5, 0, work);
  const double size = static_cast<double>(extent);
  return 2 * size * size * size / statistics_of(samples.seconds).minimum;
}

}  // namespace

nlohmann::json measure_roofs(const ExecutionSpace& space, const std::string& size_class,
                             std::uint64_t seed) {
  const bool is_full = size_class == "full";
  const bool is_tiny = size_class == "tiny";
  const std::int64_t bytes = std::int64_t(is_full ? 2048 : (is_tiny ? 4 : 256)) << 20;
  const std::int64_t extent = is_full ? 8192 : (is_tiny ? 128 : 1024);
  return {{"copy_bytes_per_second", copy_bytes_per_second(space, bytes, seed)},
          {"copy_bytes", bytes},
          {"gemm_extent", extent},
          {"gemm_flops_per_second",
           {{"f32", gemm_flops_per_second(space, DataType::float32, extent, seed)},
            {"f64", gemm_flops_per_second(space, DataType::float64, extent, seed)}}}};
}

}  // namespace perf
}  // namespace postlude
