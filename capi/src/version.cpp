#include <postlude.h>

#include <postlude/version.hpp>

int32_t postlude_version(void) {
  return POSTLUDE_VERSION_MAJOR * 10000 + POSTLUDE_VERSION_MINOR * 100 + POSTLUDE_VERSION_PATCH;
}

const char* postlude_version_string(void) { return POSTLUDE_VERSION_STRING; }

int32_t postlude_abi_version(void) { return 0; }
