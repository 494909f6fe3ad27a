#define CATCH_CONFIG_RUNNER  // Catch2 v2: its implementation goes here, without its main
#include "support/catch.hpp"

int main(int argc, char* argv[]) { return Catch::Session().run(argc, argv); }
