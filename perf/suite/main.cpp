// Measures the programs of perf/programs.json with Postlude and with the peers that are written in
// C++, checks every result before it is timed, and writes the results as JSON. See perf/README.md.

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "case.hpp"
#include "options.hpp"
#include "suite.hpp"

namespace {

using namespace postlude;
using namespace postlude::perf;

ExecutionSpace default_space() { return Kokkos::DefaultExecutionSpace(); }

ExecutionSpace space_named(const std::string& name) {
  if (name.empty()) return default_space();
#ifdef KOKKOS_ENABLE_SERIAL
  if (name == name_of(Backend::serial)) return Kokkos::Serial();
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  if (name == name_of(Backend::openmp)) return Kokkos::OpenMP();
#endif
#ifdef KOKKOS_ENABLE_THREADS
  if (name == name_of(Backend::threads)) return Kokkos::Threads();
#endif
#ifdef KOKKOS_ENABLE_CUDA
  if (name == name_of(Backend::cuda)) return Kokkos::Cuda();
#endif
  throw std::runtime_error("backend is '" + name + "', which this build does not have");
}

void list(const std::vector<Case>& cases, const std::string& filter) {
  for (const Case& what : cases)
    if (is_selected(what.name(), filter))
      std::printf("%s\n    %s\n", what.name().c_str(), what.text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  int exit_code = 0;
  if (!parse(argc, argv, options, exit_code)) return exit_code;
  try {
    const std::vector<Case> cases = cases_of(options.size_class);
    if (options.is_list) {
      list(cases, options.filter);
      return 0;
    }
    Kokkos::ScopeGuard guard;
    const ExecutionSpace space = space_named(options.backend);
    std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
    return run_suite(options, space, cases) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
