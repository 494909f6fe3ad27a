# cmake -DPKG_CONFIG=... -DCC=... -DCFLAGS=... -DSOURCE=... -DPREFIX=... -DLIBDIR=... -DVERSION=...
#       -DPROGRAM=... -P pkg_config.cmake
#
# Compiles SOURCE with what pkg-config says of the installed tree, and nothing else, and runs it.

cmake_minimum_required(VERSION 3.22)

set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig")

function(ask_pkg_config out)
  execute_process(
    COMMAND "${PKG_CONFIG}" ${ARGN} postlude
    OUTPUT_VARIABLE answer
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(answer UNIX_COMMAND "${answer}")
  set(${out} "${answer}" PARENT_SCOPE)
endfunction()

ask_pkg_config(version --modversion)
if(NOT version STREQUAL VERSION)
  message(FATAL_ERROR "pkg-config says that this is version ${version} instead of ${VERSION}")
endif()

ask_pkg_config(compile_options --cflags)
ask_pkg_config(link_options --libs)
separate_arguments(CFLAGS UNIX_COMMAND "${CFLAGS}")
execute_process(COMMAND "${CC}" ${CFLAGS} ${compile_options} "${SOURCE}" ${link_options} -o "${PROGRAM}"
                        COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
set(ENV{LD_LIBRARY_PATH} "${PREFIX}/${LIBDIR}")
execute_process(COMMAND "${PROGRAM}" COMMAND_ERROR_IS_FATAL ANY)
