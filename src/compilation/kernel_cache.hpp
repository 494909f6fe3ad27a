#ifndef POSTLUDE_COMPILATION_KERNEL_CACHE_HPP
#define POSTLUDE_COMPILATION_KERNEL_CACHE_HPP

#include <map>
#include <mutex>
#include <string>

namespace postlude {
namespace detail {

/// Kernels by a key that says what they do, for the process. Threads: safe; one compiles at a time.
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
    const std::lock_guard<std::mutex> compiling(compilation_mutex_);
    if (const Kernels* const known = find(key)) return *known;
    Kernels kernels = compile();
    const std::lock_guard<std::mutex> lock(mutex_);
    return kernels_.emplace(key, kernels).first->second;
  }

 private:
  std::mutex mutex_;
  std::mutex compilation_mutex_;
  std::map<std::string, Kernels> kernels_;
};

}  // namespace detail
}  // namespace postlude

#endif
