#include "options.hpp"

#include <CLI/CLI.hpp>
#include <random>

namespace postlude {
namespace perf {

bool parse(int argc, char** argv, Options& options, int& exit_code) {
  // A new seed in every run; one that is given repeats a run.
  options.seed =
      (static_cast<std::uint64_t>(std::random_device()()) << 16) ^ std::random_device()();
  CLI::App app("Measures Postlude beside its peers; perf/README.md says how to read the results");
  app.add_option("--backend", options.backend, "serial, openmp, threads or cuda");
  app.add_option("--size", options.size_class, "full, short, tiny or cpu (default: short)");
  app.add_option("--filter", options.filter, "cases whose name has one of these parts: a,b,...");
  app.add_option("--peers", options.peers, "peers whose name has one of these parts: a;b;...");
  app.add_option("--engine", options.engine, "GEMM engine of Postlude's plans");
  app.add_option("--repeats", options.repeats, "samples of each measurement (default: 11)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--sample-seconds", options.sample_seconds, "length of a sample (default: 0.005)")
      ->check(CLI::Range(0.0, 60.0));
  app.add_option("--seconds", options.seconds, "start no measurement after so many seconds");
  app.add_option("--check-flops", options.check_flops,
                 "operations of a check's GEMM on a host, where a part will do (default: 1e10)");
  app.add_option("--seed", options.seed, "of the random data (default: another in every run)");
  app.add_option("--output", options.output, "file of the results");
  app.add_flag("--in-turns", options.is_in_turns,
               "on a host, take the samples of all peers of a case in turns");
  app.add_flag("--list", options.is_list, "print the cases and measure nothing");
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error);
    return false;
  }
}

}  // namespace perf
}  // namespace postlude
