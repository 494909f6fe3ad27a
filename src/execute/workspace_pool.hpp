#ifndef POSTLUDE_EXECUTE_WORKSPACE_POOL_HPP
#define POSTLUDE_EXECUTE_WORKSPACE_POOL_HPP

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "execute/memory.hpp"

namespace postlude {
namespace detail {

/// Workspace of one plan for callers that bring none.
///
/// On a device every queue has one buffer for good: executions on a queue run one after another, so
/// the next may reuse what the last still computes with, as long as the two are not enqueued in
/// turns. On a host an execution is over when its call returns, and every concurrent call takes a
/// buffer of its own.
class WorkspacePool {
 public:
  /// Exclusive use of a buffer while one execution is enqueued.
  class Lease {
   public:
    void* data() const { return buffer_->data(); }
    Lease(Lease&&) = default;
    ~Lease();

   private:
    friend class WorkspacePool;
    Lease() = default;
    WorkspacePool* pool_ = nullptr;  ///< to give the buffer back to, on a host
    std::unique_ptr<BackendBuffer> owned_;
    BackendBuffer* buffer_ = nullptr;
    std::unique_lock<std::mutex> queue_lock_;  ///< on a device
  };

  /// A buffer of at least so many bytes. Throws Error(out_of_memory).
  Lease acquire(const ExecutionSpace& space, std::size_t bytes);

 private:
  struct Queue {
    std::mutex mutex;
    BackendBuffer buffer;
  };

  std::mutex mutex_;
  std::map<const void*, std::unique_ptr<Queue>> queues_;
  std::vector<std::unique_ptr<BackendBuffer>> free_;
};

}  // namespace detail
}  // namespace postlude

#endif
