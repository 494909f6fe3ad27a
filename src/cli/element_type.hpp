#ifndef POSTLUDE_CLI_ELEMENT_TYPE_HPP
#define POSTLUDE_CLI_ELEMENT_TYPE_HPP

#include <postlude.h>

#include <cstddef>

#include "cli_error.hpp"

namespace postlude {
namespace cli {

/// Bytes of one element.
inline std::size_t element_bytes(postlude_dtype dtype) {
  switch (dtype) {
    case POSTLUDE_FLOAT64:
    case POSTLUDE_INT64:
      return 8;
    case POSTLUDE_FLOAT32:
      return 4;
    case POSTLUDE_FLOAT16:
    case POSTLUDE_BFLOAT16:
      return 2;
    default:
      throw CliError("the library gave an element type that this command does not know");
  }
}

/// NumPy's name of the type.
inline const char* element_name(postlude_dtype dtype) {
  switch (dtype) {
    case POSTLUDE_FLOAT64:
      return "float64";
    case POSTLUDE_INT64:
      return "int64";
    case POSTLUDE_FLOAT32:
      return "float32";
    case POSTLUDE_FLOAT16:
      return "float16";
    case POSTLUDE_BFLOAT16:
      return "bfloat16";
    default:
      return "unknown";
  }
}

}  // namespace cli
}  // namespace postlude

#endif
