# What the ABI dump and its test share: a shared library with the interface of libpostlude_c.so and
# nothing in it. Types are read from debug information, which a release build of the real library
# does not have, and only the header's are of interest. That the real library defines the same
# functions is the business of its compiler, which sees the header, and of the test of exported symbols.

get_filename_component(postlude_capi "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(postlude_abi_dump "${CMAKE_CURRENT_LIST_DIR}/libpostlude_c.abi")
set(postlude_header "${postlude_capi}/include/postlude.h")

# What is no part of the ABI stays out of the dump (paths, lines, names of parameters), so that it is
# the same wherever it is made; and types are numbered by their names, so that few lines change.
set(postlude_abidw_options --no-corpus-path --no-comp-dir-path --no-show-locs --no-architecture --no-parameter-names
                           --drop-private-types --type-id-style hash)

# postlude_interface_source(TEXT OUTPUT): a C file in which every function of the header TEXT has a body.
function(postlude_interface_source text output)
  # Nothing refers to the header's enums, whose values pass as int32_t. With a name and a variable
  # each of them is a part of the interface that can be compared.
  string(REGEX REPLACE "typedef int32_t (postlude_[a-z0-9_]+);\nenum {" "typedef int32_t \\1;\nenum \\1_values {" source
                       "${text}")
  string(REGEX MATCHALL "enum postlude_[a-z0-9_]+_values {" enums "${source}")
  string(REGEX MATCHALL "\n(typedef )?enum[ \n]" declared "${text}")
  list(LENGTH enums enum_count)
  list(LENGTH declared declared_count)
  if(NOT enum_count EQUAL declared_count)
    message(FATAL_ERROR "postlude.h has ${declared_count} enums, and ${enum_count} of them follow a typedef of int32_t")
  endif()
  foreach(enum IN LISTS enums)
    string(REGEX REPLACE "enum (.*) {" "\\1" name "${enum}")
    string(APPEND source "enum ${name} ${name};\n")
  endforeach()

  string(REGEX REPLACE "(\nPOSTLUDE_API [^;{}]+\\));" "\\1 { __builtin_trap(); }" source "${source}")
  string(REGEX MATCHALL "\nPOSTLUDE_API " declared "${text}")
  string(REGEX MATCHALL "{ __builtin_trap" defined "${source}")
  list(LENGTH declared declared_count)
  list(LENGTH defined defined_count)
  if(declared_count LESS 20 OR NOT defined_count EQUAL declared_count)
    message(FATAL_ERROR "postlude.h declares ${declared_count} functions, and ${defined_count} of them were understood")
  endif()
  file(WRITE "${output}" "${source}")
endfunction()

# postlude_interface_library(TEXT FOLDER): makes FOLDER/libpostlude_c.so from the header TEXT.
function(postlude_interface_library text folder)
  file(STRINGS "${postlude_capi}/../CMakeLists.txt" version REGEX "^  VERSION [0-9]+\\." LIMIT_COUNT 1)
  string(REGEX REPLACE "^  VERSION ([0-9]+)\\..*" "\\1" major "${version}")
  postlude_interface_source("${text}" "${folder}/interface.c")
  # The file is named without its folder, which debug information would hold.
  execute_process(
    COMMAND "${CC}" -std=c99 -g -gdwarf-4 -O0 -w -fPIC -shared "-Wl,-soname,libpostlude_c.so.${major}"
            "-Wl,--version-script=${postlude_capi}/src/postlude_c.map" interface.c -o libpostlude_c.so
    WORKING_DIRECTORY "${folder}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
