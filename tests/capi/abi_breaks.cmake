# cmake -DCC=... -DABIDIFF=... -DWORK=... -P abi_breaks.cmake
#
# Tests the test: each change below is made to a copy of postlude.h, and capi.abi has to notice those
# that break programs, and no others.

cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/compare_abi.cmake")

# changed_header(OUT PATTERN REPLACEMENT)
function(changed_header out pattern replacement)
  file(READ "${postlude_header}" text)
  string(REGEX REPLACE "${pattern}" "${replacement}" changed "${text}")
  if(changed STREQUAL text)
    message(FATAL_ERROR "postlude.h has no ${pattern} any more: choose something else to change")
  endif()
  set(${out} "${changed}" PARENT_SCOPE)
endfunction()

# breaks(NAME PATTERN REPLACEMENT EXPECTED): abidiff reports what matches EXPECTED.
function(breaks name pattern replacement expected)
  changed_header(text "${pattern}" "${replacement}")
  postlude_compare_abi("${text}" "${WORK}/${name}" report)
  if(report MATCHES "[^\n]*${expected}[^\n]*")
    string(STRIP "${CMAKE_MATCH_0}" line)
    message(STATUS "${name}: ${line}")
  else()
    message(SEND_ERROR "${name} was not noticed; abidiff says: ${report}")
  endif()
endfunction()

# is_compatible(NAME PATTERN REPLACEMENT)
function(is_compatible name pattern replacement)
  changed_header(text "${pattern}" "${replacement}")
  postlude_compare_abi("${text}" "${WORK}/${name}" report)
  if(report)
    message(SEND_ERROR "${name} was refused: ${report}")
  else()
    message(STATUS "${name}: accepted")
  endif()
endfunction()

breaks(removed_function "POSTLUDE_API int32_t postlude_version\\(void\\);" "" "\\[D\\] 'function int32_t postlude_version")
breaks(renamed_function "postlude_plan_explain\\(" "postlude_plan_describe(" "\\[D\\] .*postlude_plan_explain")
breaks(type_of_result "POSTLUDE_API int32_t postlude_version\\(" "POSTLUDE_API int64_t postlude_version("
       "type name changed from 'int' to 'long int'")
breaks(type_of_parameter "int64_t elements," "int32_t elements," "type name changed from 'long int' to 'int'")
breaks(another_parameter "postlude_plan_destroy\\(postlude_plan \\*plan" "postlude_plan_destroy(postlude_plan *plan, int how"
       "parameter 2 of type 'int' was added")

breaks(type_of_field "int32_t rank;" "int64_t rank;" "type of 'int32_t rank' changed")
# Of the same size as before: neither the struct's size nor an offset tells.
breaks(sign_of_field "size_t operand_count;" "int64_t operand_count;" "type of 'size_t operand_count' changed")
breaks(length_of_field "int64_t stride\\[3\\];" "int64_t stride[4];" "type of 'int64_t stride\\[3\\]' changed")
breaks(removed_field "  void \\*workspace;" "" "'void\\* workspace', at offset")
breaks(inserted_field "(  double largest_absolute_error;)" "  double median;\n\\1" "'double median', at offset")
breaks(exchanged_fields "double largest_absolute_error;\n  double largest_relative_error;"
       "double largest_relative_error;\n  double largest_absolute_error;" "'double largest_absolute_error' offset changed")
# postlude_tensor is part of other structs and never grows.
breaks(appended_to_tensor "(  int32_t reserved;[^\n]*\n)(} postlude_tensor;)" "\\1  int64_t more;\n\\2"
       "'int64_t more', at offset")

breaks(renumbered_constant "POSTLUDE_FLOAT16 = 3" "POSTLUDE_FLOAT16 = 7" "POSTLUDE_FLOAT16' from value '3' to '7'")
breaks(removed_constant "  POSTLUDE_UNKNOWN_NAME = 3,[^\n]*" "" "POSTLUDE_UNKNOWN_NAME' value '3'")
breaks(width_of_constants "typedef int32_t postlude_status;\nenum {"
       "typedef int64_t postlude_status;\ntypedef int32_t postlude_other;\nenum {"
       "typedef name changed from int32_t to int64_t")

is_compatible(added_function "(\nPOSTLUDE_API int32_t postlude_version\\()" "\nPOSTLUDE_API int32_t postlude_more(void);\\1")
is_compatible(added_constant "(  POSTLUDE_FLOAT64 = 1,)" "\\1\n  POSTLUDE_FLOAT8 = 99,")
is_compatible(renamed_parameter "int64_t elements," "int64_t length,")
