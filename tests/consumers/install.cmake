# cmake -DBUILD=... -DCONFIG=... -DPREFIX=... [-DCOMPONENTS=...] -P install.cmake
#
# Installs the build tree, all of it or COMPONENTS, and moves what was installed: an installed tree
# works wherever it is.

cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}.first")
function(postlude_install)
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${PREFIX}.first" ${ARGN}
                          COMMAND_ERROR_IS_FATAL ANY)
endfunction()
if(COMPONENTS)
  foreach(component IN LISTS COMPONENTS)
    postlude_install(--component ${component})
  endforeach()
else()
  postlude_install()
endif()
file(RENAME "${PREFIX}.first" "${PREFIX}")
