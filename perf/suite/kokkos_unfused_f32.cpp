#include "kokkos_executor.hpp"
#include "kokkos_unfused.hpp"

namespace postlude {
namespace perf {
namespace unfused {

std::string kokkos_refusal(Backend backend, const Case& what) {
  using Space = Kokkos::DefaultExecutionSpace;
  if (backend != detail::BackendOf<Space>::value)
    return std::string("its kernels are compiled for ") + name_of(detail::BackendOf<Space>::value) +
           " alone";
  return refusal<KokkosExecutor<Space>>(what);
}

Work kokkos_work(const ExecutionSpace& space, const LinearFunction<float>& linear, const Case& what,
                 const Inputs& inputs, const std::vector<DeviceTensor>& outputs) {
  using Space = Kokkos::DefaultExecutionSpace;
  const KokkosExecutor<Space> executor{space.get<Space>()};
  return work_of<float>(space, executor, linear, what, inputs, outputs);
}

}  // namespace unfused
}  // namespace perf
}  // namespace postlude
