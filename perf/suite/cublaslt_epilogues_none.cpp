#include "absent_peer.hpp"

namespace postlude {
namespace perf {

std::unique_ptr<Peer> make_cublaslt_epilogues(Backend, bool is_tf32) {
  return std::make_unique<AbsentPeer>(
      is_tf32 ? "cuBLASLt with its epilogues, tf32" : "cuBLASLt with its epilogues",
      "the suite was built without CUDA or without cuBLASLt");
}

}  // namespace perf
}  // namespace postlude
