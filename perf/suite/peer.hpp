#ifndef POSTLUDE_PERF_PEER_HPP
#define POSTLUDE_PERF_PEER_HPP

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "case.hpp"
#include "data.hpp"
#include "sampler.hpp"

namespace postlude {
namespace perf {

/// Why a peer does not compute a case, found out while it gets ready for it.
class Refusal : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One way to compute the cases: Postlude itself, or what it is compared with.
class Peer {
 public:
  virtual ~Peer() = default;

  /// As it stands in the results.
  virtual std::string name() const = 0;
  /// Whether the run fails when a result is outside its tolerance.
  virtual bool must_be_right() const { return false; }
  /// Why it computes no case here at all, empty when it does.
  virtual std::string absence() const { return ""; }
  /// Why it does not compute a case, empty when it does.
  virtual std::string refusal(const Case& what) const = 0;
  /// What it computes of a case, with which its result is compared: all of it, unless it is there
  /// to show what a part takes.
  virtual Case computed(const Case& what) const { return what; }
  /// Work that reads a copy of `inputs` and writes that copy's output, row-major. Throws Refusal.
  virtual Work prepare(const ExecutionSpace& space, const Case& what, const Inputs& inputs,
                       const std::vector<DeviceTensor>& outputs) const = 0;
};

/// Postlude's plan in a compute mode, with w itself or with prepared weights, and with a GEMM
/// engine of this name, "" for the one that the plan chooses.
std::unique_ptr<Peer> make_postlude(Backend backend, ComputeMode compute, bool is_prepared,
                                    const std::string& engine);
/// KokkosBlas::gemm, then one Kokkos kernel for each operation.
std::unique_ptr<Peer> make_kokkos_unfused(Backend backend);
/// cuBLASLt with the epilogue that it has for bias, relu and gelu, then one Kokkos kernel for each
/// operation that is left; in strict float32, or in TF32.
std::unique_ptr<Peer> make_cublaslt_epilogues(Backend backend, bool is_tf32);
/// The BLAS call, then one loop for each operation, on OpenMP's threads.
std::unique_ptr<Peer> make_blas_loops(Backend backend);
/// The BLAS call alone, without an epilogue: what the others' time is made of.
std::unique_ptr<Peer> make_blas_alone(Backend backend);
/// oneDNN's matmul with post-operations, and its reductions and softmax; with w as it is, or
/// reordered before.
std::unique_ptr<Peer> make_onednn(Backend backend, bool is_prepared);

}  // namespace perf
}  // namespace postlude

#endif
