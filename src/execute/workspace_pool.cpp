#include "execute/workspace_pool.hpp"

#include <utility>

namespace postlude {
namespace detail {

WorkspacePool::Lease::~Lease() {
  if (owned_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(pool_->mutex_);
  pool_->free_.push_back(std::move(owned_));
}

WorkspacePool::Lease WorkspacePool::acquire(const ExecutionSpace& space, std::size_t bytes) {
  Lease lease;
  const void* key = queue_key(space);
  if (key == nullptr && is_reachable(space.backend(), MemorySpace::host)) {
    lease.pool_ = this;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        lease.owned_ = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (lease.owned_ == nullptr || lease.owned_->bytes() < bytes)
      lease.owned_ = std::make_unique<BackendBuffer>(space, bytes);
    lease.buffer_ = lease.owned_.get();
    return lease;
  }
  Queue* queue = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<Queue>& entry = queues_[key];
    if (entry == nullptr) entry = std::make_unique<Queue>();
    queue = entry.get();
  }
  lease.queue_lock_ = std::unique_lock<std::mutex>(queue->mutex);
  if (queue->buffer.bytes() < bytes) queue->buffer = BackendBuffer(space, bytes);
  lease.buffer_ = &queue->buffer;
  return lease;
}

}  // namespace detail
}  // namespace postlude
