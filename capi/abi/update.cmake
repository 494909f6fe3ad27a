# cmake [-DCC=...] -P capi/abi/update.cmake
#
# Writes libpostlude_c.abi, the ABI that the test capi.abi holds the header to, anew from postlude.h.
# It needs a C compiler and abidw (Debian: abigail-tools), and no build tree.

cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/interface.cmake")

find_program(CC NAMES cc gcc clang REQUIRED)
find_program(ABIDW NAMES abidw REQUIRED)

set(folder "${CMAKE_CURRENT_LIST_DIR}/work")
file(MAKE_DIRECTORY "${folder}")
file(READ "${postlude_header}" text)
postlude_interface_library("${text}" "${folder}")
execute_process(COMMAND "${ABIDW}" ${postlude_abidw_options} --out-file "${postlude_abi_dump}" libpostlude_c.so
                WORKING_DIRECTORY "${folder}" COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE "${folder}")
