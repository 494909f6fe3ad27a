# cmake -DCC=... -DABIDIFF=... -DWORK=... -P abi.cmake
#
# The ABI of postlude.h is the one in capi/abi/libpostlude_c.abi: no function is gone, and no
# parameter, field, constant or SONAME is another. Functions and constants may be added.

cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/compare_abi.cmake")

file(READ "${postlude_header}" text)
postlude_compare_abi("${text}" "${WORK}" report)
if(report)
  message("${report}")
  message(FATAL_ERROR "A program that was built with the last postlude.h would not work with this one. "
                      "If that is meant to be, run cmake -P capi/abi/update.cmake; CONTRIBUTING.md says when it may be.")
endif()
