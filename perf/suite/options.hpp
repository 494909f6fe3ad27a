#ifndef POSTLUDE_PERF_OPTIONS_HPP
#define POSTLUDE_PERF_OPTIONS_HPP

#include <cstdint>
#include <string>

namespace postlude {
namespace perf {

/// What the suite is asked to do; parse() has the meaning of each.
struct Options {
  std::string backend;
  std::string size_class = "short";
  std::string filter;
  std::string peers;
  std::string engine;
  std::string output;
  int repeats = 11;
  double sample_seconds = 0.005;
  double seconds = 1e9;
  double check_flops = 1e10;
  std::uint64_t seed = 0;
  bool is_in_turns = false;
  bool is_list = false;
};

/// True when the program goes on; else `exit_code` is what it ends with, after help or an error.
bool parse(int argc, char** argv, Options& options, int& exit_code);

}  // namespace perf
}  // namespace postlude

#endif
