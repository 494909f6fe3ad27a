#ifndef POSTLUDE_PERF_ABSENT_PEER_HPP
#define POSTLUDE_PERF_ABSENT_PEER_HPP

#include <stdexcept>
#include <string>
#include <utility>

#include "peer.hpp"

namespace postlude {
namespace perf {

/// Stands for a peer that this build does not have, so that the results name it as missing.
class AbsentPeer : public Peer {
 public:
  AbsentPeer(std::string name, std::string reason)
      : name_(std::move(name)), reason_(std::move(reason)) {}

  std::string name() const override { return name_; }
  std::string absence() const override { return reason_; }
  std::string refusal(const Case&) const override { return reason_; }
  Work prepare(const ExecutionSpace&, const Case&, const Inputs&,
               const std::vector<DeviceTensor>&) const override {
    throw Refusal(reason_);
  }

 private:
  std::string name_;
  std::string reason_;
};

}  // namespace perf
}  // namespace postlude

#endif
