# cmake -DPACKAGES=... -DVERSION=... -DMAJOR=... -DLIBDIR=... -DREADELF=... -DBUILD=... -DSOURCE=...
#       -DUNPACKED=... -P archive.cmake
#
# Looks into the .tar.gz and unpacks it, in a place of which it cannot know.

cmake_minimum_required(VERSION 3.22)

file(GLOB archive "${PACKAGES}/*.tar.gz")
if(NOT archive MATCHES "/(postlude-${VERSION}-[^/;]+)\\.tar\\.gz$")
  message(FATAL_ERROR "instead of one archive of version ${VERSION} there is: ${archive}")
endif()
set(top "${CMAKE_MATCH_1}")

execute_process(COMMAND "${CMAKE_COMMAND}" -E tar tf "${archive}" OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" names "${listing}")
string(REGEX REPLACE "/.*" "" libraries "${LIBDIR}") # lib of lib/x86_64-linux-gnu
foreach(name IN LISTS names)
  if(NOT name MATCHES "^${top}/(bin|include|${libraries}|share)(/|$)")
    message(SEND_ERROR "not in a folder where one would look for it: ${name}")
  endif()
endforeach()
set(wanted include/postlude/postlude.hpp include/postlude/version.hpp ${LIBDIR}/cmake/Postlude/PostludeConfig.cmake
           ${LIBDIR}/cmake/Postlude/PostludeConfigVersion.cmake ${LIBDIR}/cmake/Postlude/PostludeCppTargets.cmake
           share/doc/libpostlude-dev/copyright)
if(listing MATCHES "/PostludeCTargets.cmake")
  list(APPEND wanted include/postlude.h ${LIBDIR}/libpostlude_c.so ${LIBDIR}/libpostlude_c.so.${MAJOR}
              ${LIBDIR}/libpostlude_c.so.${VERSION} ${LIBDIR}/pkgconfig/postlude.pc)
endif()
foreach(name IN LISTS wanted)
  if(NOT "${top}/${name}" IN_LIST names)
    message(SEND_ERROR "the archive has no ${name}")
  endif()
endforeach()

get_filename_component(parent "${UNPACKED}" DIRECTORY)
file(REMOVE_RECURSE "${UNPACKED}" "${parent}/${top}")
file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${parent}")
file(RENAME "${parent}/${top}" "${UNPACKED}")

# Nothing in it may look for the folders that it was made in.
file(GLOB_RECURSE texts "${UNPACKED}/*.cmake" "${UNPACKED}/*.pc" "${UNPACKED}/*.h" "${UNPACKED}/*.hpp")
foreach(file IN LISTS texts)
  file(READ "${file}" text)
  foreach(folder IN ITEMS "${BUILD}" "${SOURCE}")
    string(FIND "${text}" "${folder}" place)
    if(NOT place EQUAL -1)
      message(SEND_ERROR "${file} names ${folder}")
    endif()
  endforeach()
endforeach()
file(GLOB binaries "${UNPACKED}/bin/*" "${UNPACKED}/${LIBDIR}/*.so")
foreach(file IN LISTS binaries)
  execute_process(COMMAND "${READELF}" --dynamic --wide "${file}" OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
  if(table MATCHES "R(UN)?PATH[^\n]*(${BUILD}|${SOURCE})[^\n]*")
    message(SEND_ERROR "${file} searches ${CMAKE_MATCH_0}")
  endif()
endforeach()
if(EXISTS "${UNPACKED}/bin/postlude")
  execute_process(COMMAND "${UNPACKED}/bin/postlude" --version COMMAND_ERROR_IS_FATAL ANY)
endif()
