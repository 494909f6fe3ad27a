#ifndef POSTLUDE_COMPILATION_EMBEDDED_SOURCES_HPP
#define POSTLUDE_COMPILATION_EMBEDDED_SOURCES_HPP

#include <vector>

namespace postlude {
namespace detail {

/// A header that the compiler for run time is given, by the name that #include uses.
struct EmbeddedSource {
  const char* name;
  const char* content;
};

/// Our own device headers, and the little of the standard library that they use, which NVRTC lacks.
/// Written by the build from the files themselves.
const std::vector<EmbeddedSource>& embedded_sources();

}  // namespace detail
}  // namespace postlude

#endif
