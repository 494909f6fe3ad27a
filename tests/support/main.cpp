#define CATCH_CONFIG_RUNNER  // Catch2 v2: its implementation goes here, without its main
#include "support/catch.hpp"

#include "support/backend.hpp"

namespace {

/// Listing tests must work on a machine that cannot start the backend.
bool runs_tests(const Catch::ConfigData& config) {
#if __has_include(<catch2/catch_all.hpp>)
  return !(config.showHelp || config.listTests || config.listTags || config.listReporters ||
           config.listListeners);
#else
  return !(config.showHelp || config.listTests || config.listTestNamesOnly || config.listTags ||
           config.listReporters);
#endif
}

}  // namespace

int main(int argc, char* argv[]) {
  Catch::Session session;
  const int refused = session.applyCommandLine(argc, argv);
  if (refused != 0) return refused;
  if (!runs_tests(session.configData())) return session.run();
  const postlude::test::BackendGuard guard;
  return session.run();
}
