# cmake -DNM=... -DREADELF=... -DLIBRARY=... -DSONAME=... -DHEADER=... -P exported_symbols.cmake
#
# The shared library exports exactly what the header declares: nothing of Kokkos, of a BLAS or of
# C++, which would clash with a host's own copies, and no function is forgotten. Programs look for
# it under its SONAME, which is the major version's.

cmake_minimum_required(VERSION 3.22)

execute_process(
  COMMAND "${NM}" -D --defined-only "${LIBRARY}"
  OUTPUT_VARIABLE table
  RESULT_VARIABLE failure)
if(failure)
  message(FATAL_ERROR "${NM} could not read ${LIBRARY}: ${failure}")
endif()

# A line is "address type name@@version"; the version itself is an absolute symbol.
set(exported "")
string(REGEX MATCHALL "[^\n]+" lines "${table}")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "([A-Za-z]) ([^ @]+)(@@?([^ ]+))?$")
    message(FATAL_ERROR "not understood: ${line}")
  endif()
  set(name "${CMAKE_MATCH_2}")
  set(version "${CMAKE_MATCH_4}")
  if(CMAKE_MATCH_1 STREQUAL "A" AND name STREQUAL "POSTLUDE_0")
    continue()
  endif()
  if(NOT version STREQUAL "POSTLUDE_0")
    message(SEND_ERROR "${name} has version '${version}' instead of POSTLUDE_0")
  endif()
  list(APPEND exported "${name}")
endforeach()

execute_process(COMMAND "${READELF}" --dynamic --wide "${LIBRARY}" OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
if(NOT table MATCHES "\\(SONAME\\)[^\n]*\\[([^\n]*)\\]" OR NOT CMAKE_MATCH_1 STREQUAL SONAME)
  message(SEND_ERROR "the SONAME is '${CMAKE_MATCH_1}' instead of ${SONAME}")
endif()

file(READ "${HEADER}" text)
string(REGEX MATCHALL "POSTLUDE_API [a-z0-9_ ]+[ *]postlude_[a-z0-9_]+\\(" declarations "${text}")
set(declared "")
foreach(declaration IN LISTS declarations)
  string(REGEX REPLACE ".*(postlude_[a-z0-9_]+)\\($" "\\1" name "${declaration}")
  list(APPEND declared "${name}")
endforeach()

list(SORT exported)
list(SORT declared)
list(LENGTH declared count)
if(count LESS 20)
  message(FATAL_ERROR "only ${count} declarations were found in ${HEADER}")
endif()
foreach(name IN LISTS exported)
  if(NOT name IN_LIST declared)
    message(SEND_ERROR "exported but not declared in postlude.h: ${name}")
  endif()
endforeach()
foreach(name IN LISTS declared)
  if(NOT name IN_LIST exported)
    message(SEND_ERROR "declared in postlude.h but not exported: ${name}")
  endif()
endforeach()
message(STATUS "${count} functions, all of version POSTLUDE_0, in ${SONAME}")
