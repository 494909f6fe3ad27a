# cmake -DDPKG_DEB=... -DPACKAGES=... -DVERSION=... -DMAJOR=... -DLIBDIR=... -DBUILD=... -DUNPACKED=... -P debian.cmake
#
# Looks into the three packages and unpacks them into one folder, as an installation does.

cmake_minimum_required(VERSION 3.22)
include("${BUILD}/CPackConfig.cmake")

file(GLOB made "${PACKAGES}/*.deb")
list(LENGTH made count)
if(NOT count EQUAL 3)
  message(FATAL_ERROR "instead of three packages there are: ${made}")
endif()
file(REMOVE_RECURSE "${UNPACKED}")
file(MAKE_DIRECTORY "${UNPACKED}")
set(all_files "")

# look_into(NAME): sets `files`, what is in the package, a line each as ls would print it; and `control`, the
# package's own fields. Checks what is the same for all three.
macro(look_into name)
  file(GLOB package "${PACKAGES}/${name}_${VERSION}_*.deb")
  if(NOT package MATCHES "_[a-z0-9]+\\.deb$")
    message(FATAL_ERROR "${made} has no ${name} of version ${VERSION}")
  endif()
  execute_process(COMMAND "${DPKG_DEB}" -I "${package}" OUTPUT_VARIABLE control COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${DPKG_DEB}" -c "${package}" OUTPUT_VARIABLE files COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${DPKG_DEB}" -x "${package}" "${UNPACKED}" COMMAND_ERROR_IS_FATAL ANY)

  foreach(field IN ITEMS "Package: ${name}\n" "Version: ${VERSION}\n" "Maintainer: [^\n<]+ <[^\n]+@[^\n]+>\n"
                         "Architecture: [a-z0-9]+\n" "Section: [a-z]+\n" "Description: [^\n]+\n")
    if(NOT control MATCHES "\n *${field}")
      message(SEND_ERROR "${name} has no ${field}${control}")
    endif()
  endforeach()
  expect("/usr/share/doc/${name}/copyright")

  string(REGEX MATCHALL "[^\n]+" lines "${files}")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^(l[rwx]+|[-d]rw[x-]r-[x-]r-[x-]) root/root .* \\./(usr(/[^ ]*)?)?( -> .*)?$")
      message(SEND_ERROR "of ${name}, outside of /usr, of another owner or writable: ${line}")
    endif()
    string(REGEX REPLACE ".* (\\./[^ ]*)( -> .*)?$" "\\1" file "${line}")
    if(NOT line MATCHES "^d" AND file IN_LIST all_files)
      message(SEND_ERROR "in two packages: ${file}")
    endif()
    list(APPEND all_files "${file}")
  endforeach()
endmacro()

# expect(END): a line of `files` ends with END.
function(expect end)
  string(REPLACE "." "\\." pattern "${end}")
  if(NOT files MATCHES "${pattern}\n")
    message(SEND_ERROR "${name} has no ${end}:\n${files}")
  endif()
endfunction()

function(depends_on what)
  if(NOT control MATCHES "\n *Depends: [^\n]*${what}")
    message(SEND_ERROR "${name} does not depend on ${what}:\n${control}")
  endif()
endfunction()

# Only what carries the major version in its name, so that the next one can be installed beside it.
set(name libpostlude-c${MAJOR})
look_into(${name})
expect("/libpostlude_c.so.${VERSION}")
expect("/libpostlude_c.so.${MAJOR} -> libpostlude_c.so.${VERSION}")
if(files MATCHES "/include/|/bin/|\\.so ->|\\.a\n")
  message(SEND_ERROR "${name} has files for development, or without a version in their names:\n${files}")
endif()
if(CPACK_DEBIAN_PACKAGE_SHLIBDEPS)
  depends_on("libc6 ")
  if(NOT control MATCHES "shlibs")
    message(SEND_ERROR "${name} does not tell other packages how to depend on it:\n${control}")
  endif()
endif()

set(name libpostlude-dev)
look_into(${name})
depends_on("libpostlude-c${MAJOR} \\(= ${VERSION}\\)")
foreach(end IN ITEMS "/libpostlude_c.so -> libpostlude_c.so.${MAJOR}" /usr/include/postlude.h
                     /usr/include/postlude/postlude.hpp /${LIBDIR}/pkgconfig/postlude.pc
                     /${LIBDIR}/cmake/Postlude/PostludeConfig.cmake)
  expect("${end}")
endforeach()

set(name postlude)
look_into(${name})
depends_on("libpostlude-c${MAJOR} \\(= ${VERSION}\\)")
expect(/usr/bin/postlude)

execute_process(COMMAND "${UNPACKED}/usr/bin/postlude" --version COMMAND_ERROR_IS_FATAL ANY)
