#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <variant>

#include "arguments.hpp"
#include "cli_error.hpp"
#include "commands.hpp"

namespace {

using namespace postlude::cli;

struct Dispatch {
  int operator()(const TextAnswer& answer) const {
    fmt::print("{}", answer.text);
    return exit_ok;
  }
  int operator()(const RunArguments& arguments) const { return run(arguments); }
  int operator()(const CheckArguments& arguments) const { return check(arguments); }
  int operator()(const ExplainArguments& arguments) const { return explain(arguments); }
  int operator()(const BenchArguments& arguments) const { return bench(arguments); }
  int operator()(const CalibrateArguments& arguments) const { return calibrate(arguments); }
  int operator()(const BackendsArguments&) const { return backends(); }
};

int fail(const char* message) {
  std::fprintf(stderr, "postlude: error: %s\n", message);
  return exit_bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = std::visit(Dispatch(), parse_arguments(argc, argv));
    if (std::fflush(stdout) != 0)
      throw CliError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    return code;
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (...) {
    return fail("unexpected failure");
  }
}
