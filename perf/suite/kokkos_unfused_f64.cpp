#include "kokkos_executor.hpp"
#include "kokkos_unfused.hpp"

namespace postlude {
namespace perf {
namespace unfused {

Work kokkos_work(const ExecutionSpace& space, const LinearFunction<double>& linear,
                 const Case& what, const Inputs& inputs, const std::vector<DeviceTensor>& outputs) {
  using Space = Kokkos::DefaultExecutionSpace;
  const KokkosExecutor<Space> executor{space.get<Space>()};
  return work_of<double>(space, executor, linear, what, inputs, outputs);
}

}  // namespace unfused
}  // namespace perf
}  // namespace postlude
