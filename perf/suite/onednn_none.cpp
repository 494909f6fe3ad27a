#include "absent_peer.hpp"

namespace postlude {
namespace perf {

std::unique_ptr<Peer> make_onednn(Backend, bool is_prepared) {
  return std::make_unique<AbsentPeer>(
      is_prepared ? "oneDNN with post-ops, prepared weights" : "oneDNN with post-ops",
      "the suite was built without oneDNN 2 (Debian: libdnnl-dev), or with CUDA");
}

}  // namespace perf
}  // namespace postlude
