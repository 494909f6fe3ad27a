#include "execute/enqueue_pass.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <string>
#include <type_traits>

#include <postlude/detail/traversal.hpp>
#include <postlude/error.hpp>

#include "compat/with_instance.hpp"
#include "execute/compensated_sum.hpp"
#include "execute/host_pass.hpp"
#ifdef KOKKOS_ENABLE_CUDA
#include "execute/pass_kernels.hpp"
#endif

namespace postlude {
namespace detail {
namespace {

template <class Space>
std::string pass_label(const char* what) {
  return std::string("postlude::guard::") + what + "[" + name_of(BackendOf<Space>::value) + "]";
}

/// Runs `body` for each of `count` items on a host; complete on return.
template <class Space, class Body>
void run_on_host(const Space& space, const char* what, std::int64_t count, const Body& body) {
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(pass_label<Space>(what), Policy(space, 0, count), body);
  space.fence();
}

template <class T, class Space>
void run_pass(const Space& space, const MatrixPass& pass) {
  if (pass.matrix.stride_inner == 1)
    run_on_host(space, "pass", pass.cut.workers, HostPass<T, true>{pass});
  else
    run_on_host(space, "pass", pass.cut.workers, HostPass<T, false>{pass});
}

/// Adds the chunks of one sum.
struct AddChunks {
  ChunkedSums sums;

  void operator()(const std::int64_t i) const {
    CompensatedSum sum;
    for (std::int64_t place = i; place < sums.chunks * sums.count; place += sums.count)
      sum.add(CompensatedSum(sums.partials[place], sums.lost == nullptr ? 0 : sums.lost[place]));
    sums.sums[i] = sum.value();
  }
};

[[noreturn]] void refuse(const ExecutionSpace& space) {
  throw Error(Status::unsupported,
              std::string("shortcuts do not exist on backend ") + name_of(space.backend()));
}

}  // namespace

void enqueue_pass(const ExecutionSpace& space, const MatrixPass& pass,
                  const std::vector<MatrixPass>& others) {
#ifdef KOKKOS_ENABLE_CUDA
  if (space.backend() == Backend::cuda) {
    PassGroup group;
    group.first = pass;
    for (const MatrixPass& other : others) group.others[group.other_count++] = other;
    return launch_passes(group, space.get<Kokkos::Cuda>().cuda_stream());
  }
#endif
  for (const MatrixPass& other : others) enqueue_pass(space, other);
  with_instance(space, [&](const auto& instance) {
    if constexpr (is_device_space<std::decay_t<decltype(instance)>>()) {
      refuse(space);
    } else {
      switch (pass.matrix.dtype) {
        case DataType::float64:
          return run_pass<double>(instance, pass);
        case DataType::float16:
          return run_pass<Float16>(instance, pass);
        case DataType::bfloat16:
          return run_pass<BFloat16>(instance, pass);
        default:
          return run_pass<float>(instance, pass);
      }
    }
  });
}

void enqueue_sums(const ExecutionSpace& space, const ChunkedSums& sums) {
#ifdef KOKKOS_ENABLE_CUDA
  if (space.backend() == Backend::cuda)
    return launch_sums(sums, space.get<Kokkos::Cuda>().cuda_stream());
#endif
  with_instance(space, [&](const auto& instance) {
    if constexpr (is_device_space<std::decay_t<decltype(instance)>>())
      refuse(space);
    else
      run_on_host(instance, "sums", sums.count, AddChunks{sums});
  });
}

double largest_of(const Magnitudes& magnitudes) {
  double largest = 0;
  for (std::int64_t i = 0; i < magnitudes.count && !std::isnan(largest); ++i)
    if (!(magnitudes.values[i] <= largest)) largest = magnitudes.values[i];
  return largest;
}

bool enqueue_decision(const ExecutionSpace& space, const GuardDecision& decision) {
#ifdef KOKKOS_ENABLE_CUDA
  if (space.backend() == Backend::cuda) {
    launch_decision(decision, space.get<Kokkos::Cuda>().cuda_stream());
    return true;
  }
#endif
  if (!decision.condition.holds(largest_of(decision.x), largest_of(decision.w)) ||
      !(largest_of(decision.operands) <= decision.condition.limit))
    return false;
  for (const ChunkedSums& sums : decision.sums)
    if (sums.count > 0) enqueue_sums(space, sums);
  return true;
}

}  // namespace detail
}  // namespace postlude
