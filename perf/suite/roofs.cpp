#include "roofs.hpp"

#include "compat/with_instance.hpp"
#include "peer.hpp"
#include "statistics.hpp"

namespace postlude {
namespace perf {
namespace {

/// A thread copies four pieces of 16 bytes, each beside its neighbours'.
struct CopyBody {
  struct alignas(16) Piece {
    double numbers[2];
  };
  static constexpr int pieces = 4;
  const Piece* from;
  Piece* to;
  std::int64_t stride;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    Piece held[pieces];
    for (int n = 0; n < pieces; ++n) held[n] = from[i + n * stride];
    for (int n = 0; n < pieces; ++n) to[i + n * stride] = held[n];
  }
};

/// `bytes` is a multiple of 64.
double copy_bytes_per_second(const ExecutionSpace& space, std::int64_t bytes, std::uint64_t seed) {
  DeviceTensor from(space, DataType::float64, 1, bytes / 8);
  const DeviceTensor to(space, DataType::float64, 1, bytes / 8);
  from.fill_uniform(space, seed, 0, 1);
  const std::int64_t threads =
      bytes / static_cast<std::int64_t>(sizeof(CopyBody::Piece)) / CopyBody::pieces;
  const Samples samples = sample(space, 1, 11, 0, [&](int) {
    detail::with_instance(space, [&](const auto& instance) {
      using Space = std::decay_t<decltype(instance)>;
      Kokkos::parallel_for(
          "postlude::perf::copy",
          Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, threads),
          CopyBody{static_cast<const CopyBody::Piece*>(from.tensor().data),
                   static_cast<CopyBody::Piece*>(to.tensor().data), threads});
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
