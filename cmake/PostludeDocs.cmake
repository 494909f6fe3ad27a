# The target `docs`: documentation of the C++ and C interfaces in docs/html of the build tree, where Doxygen
# is found. The test `docs` fails on whatever Doxygen warns of: a public thing without a comment, a comment
# that names no parameter of its function, a link that leads nowhere.

find_package(Doxygen 1.9 QUIET)
if(NOT DOXYGEN_FOUND)
  message(STATUS "Postlude: no target `docs`, since Doxygen 1.9 or newer was not found")
  return()
endif()

set(POSTLUDE_DOCS_DIR "${PROJECT_BINARY_DIR}/docs")
file(MAKE_DIRECTORY "${POSTLUDE_DOCS_DIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/Doxyfile.in" "${PROJECT_BINARY_DIR}/Doxyfile" @ONLY)

add_custom_target(
  docs
  COMMAND "${DOXYGEN_EXECUTABLE}" "${PROJECT_BINARY_DIR}/Doxyfile"
  COMMENT "Writing the documentation to ${POSTLUDE_DOCS_DIR}/html"
  VERBATIM)

if(POSTLUDE_BUILD_TESTS)
  add_test(NAME docs COMMAND "${DOXYGEN_EXECUTABLE}" "${PROJECT_BINARY_DIR}/Doxyfile")
  set_tests_properties(docs PROPERTIES LABELS docs TIMEOUT 300)
endif()
