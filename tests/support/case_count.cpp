#define CATCH_CONFIG_EXTERNAL_INTERFACES  // Catch2 v2: listeners, outside of main.cpp
#include "support/case_count.hpp"

#include <cstdint>
#include <cstdio>
#include <map>

#include "support/catch.hpp"

namespace postlude {
namespace test {
namespace {

std::map<std::string, std::int64_t>& counts() {
  static std::map<std::string, std::int64_t> map;
  return map;
}

#if __has_include(<catch2/catch_all.hpp>)
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

class CountPrinter : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  /// To stderr: stdout is the reporter's.
  void testRunEnded(const Catch::TestRunStats&) override {
    for (const auto& entry : counts())
      std::fprintf(stderr, "generated cases, %s: %lld\n", entry.first.c_str(),
                   static_cast<long long>(entry.second));
  }
};

CATCH_REGISTER_LISTENER(CountPrinter)

}  // namespace

void count_case(const std::string& suite) { ++counts()[suite]; }

}  // namespace test
}  // namespace postlude
