#include "kokkos_unfused.hpp"

namespace postlude {
namespace perf {
namespace {

class KokkosUnfused : public Peer {
 public:
  explicit KokkosUnfused(Backend backend) : backend_(backend) {}

  std::string name() const override { return "kokkos_kernels, one kernel per operation"; }

  std::string refusal(const Case& what) const override {
    return unfused::kokkos_refusal(backend_, what);
  }

  Work prepare(const ExecutionSpace& space, const Case& what, const Inputs& inputs,
               const std::vector<DeviceTensor>& outputs) const override {
    if (what.dtype == DataType::float64)
      return unfused::kokkos_work(space, unfused::LinearFunction<double>(), what, inputs, outputs);
    return unfused::kokkos_work(space, unfused::LinearFunction<float>(), what, inputs, outputs);
  }

 private:
  Backend backend_;
};

}  // namespace

std::unique_ptr<Peer> make_kokkos_unfused(Backend backend) {
  return std::make_unique<KokkosUnfused>(backend);
}

}  // namespace perf
}  // namespace postlude
