#ifndef POSTLUDE_COMPILATION_KERNEL_CACHE_HPP
#define POSTLUDE_COMPILATION_KERNEL_CACHE_HPP

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace postlude {
namespace detail {

/// Kernels by a key that says what they do, for the process. Threads: safe; they compile different
/// kernels at the same time, and wait for each other's of the same key.
template <class Kernels>
class KernelCache {
 public:
  /// Null where they have not been compiled. The address stays good.
  const Kernels* find(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = kernels_.find(key);
    return entry == kernels_.end() ? nullptr : &entry->second;
  }

  /// Keeps what `compile` returns, unless the key is known.
  template <class Compile>
  const Kernels& find_or_compile(const std::string& key, const Compile& compile) {
    std::unique_lock<std::mutex> lock(mutex_);
    ended_.wait(lock, [&] { return compiling_.count(key) == 0; });
    const auto known = kernels_.find(key);
    if (known != kernels_.end()) return known->second;
    compiling_.insert(key);
    lock.unlock();
    const Ending ending{*this, key};
    Kernels kernels = compile();
    const std::lock_guard<std::mutex> keeping(mutex_);
    return kernels_.emplace(key, kernels).first->second;
  }

 private:
  /// Lets those go on who wait for a compilation, which may have failed.
  struct Ending {
    KernelCache& cache;
    const std::string& key;

    ~Ending() {
      const std::lock_guard<std::mutex> lock(cache.mutex_);
      cache.compiling_.erase(key);
      cache.ended_.notify_all();
    }
  };

  std::mutex mutex_;
  std::condition_variable ended_;
  std::set<std::string> compiling_;
  std::map<std::string, Kernels> kernels_;
};

}  // namespace detail
}  // namespace postlude

#endif
