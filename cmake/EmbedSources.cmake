# Writes a C++ file that holds other files as string literals:
#   cmake -DOUTPUT=file.cpp -DNAMES=a;b -DFILES=path/a;path/b -P EmbedSources.cmake
set(text "#include \"compilation/embedded_sources.hpp\"\n\nnamespace postlude {\nnamespace detail {\n\n")
string(APPEND text "const std::vector<EmbeddedSource>& embedded_sources() {\n  static const std::vector<EmbeddedSource> sources = {\n")
list(LENGTH NAMES count)
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
  list(GET NAMES ${index} name)
  list(GET FILES ${index} file)
  file(READ "${file}" content)
  string(APPEND text "      {\"${name}\", R\"postlude(${content})postlude\"},\n")
endforeach()
string(APPEND text "  };\n  return sources;\n}\n\n}  // namespace detail\n}  // namespace postlude\n")
file(WRITE "${OUTPUT}" "${text}")
