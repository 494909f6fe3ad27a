#ifndef POSTLUDE_PERF_PEER_HPP
#define POSTLUDE_PERF_PEER_HPP

#include <memory>
#include <string>
#include <vector>

#include "case.hpp"
#include "data.hpp"
#include "sampler.hpp"

namespace postlude {
namespace perf {

/// One way to compute the cases: Postlude itself, or what it is compared with.
class Peer {
 public:
  virtual ~Peer() = default;

  /// As it stands in the results.
  virtual std::string name() const = 0;
  /// Why it does not compute a case, empty when it does.
  virtual std::string refusal(const Case& what) const = 0;
  /// Work that reads a copy of `inputs` and writes that copy's output, row-major.
  virtual Work prepare(const ExecutionSpace& space, const Case& what, const Inputs& inputs,
                       const std::vector<DeviceTensor>& outputs) const = 0;
};

/// Postlude's plan with an engine of this name, "" for the one that the plan chooses.
std::unique_ptr<Peer> make_postlude(const std::string& engine);
/// KokkosBlas::gemm, then one Kokkos kernel for each operation.
std::unique_ptr<Peer> make_kokkos_unfused(Backend backend);
/// The BLAS call, then one loop for each operation, on OpenMP's threads.
std::unique_ptr<Peer> make_blas_loops(Backend backend);

}  // namespace perf
}  // namespace postlude

#endif
