# For abi.cmake and abi_breaks.cmake. Needs CC and ABIDIFF.

include("${CMAKE_CURRENT_LIST_DIR}/../../capi/abi/interface.cmake")

# postlude_compare_abi(TEXT FOLDER OUT): what abidiff says of the header TEXT against the dump, ""
# when programs are not affected. Files are made in FOLDER.
function(postlude_compare_abi text folder out)
  file(MAKE_DIRECTORY "${folder}")
  postlude_interface_library("${text}" "${folder}")
  execute_process(
    COMMAND "${ABIDIFF}" --no-architecture --no-added-syms "${postlude_abi_dump}" libpostlude_c.so
    WORKING_DIRECTORY "${folder}"
    OUTPUT_VARIABLE report
    ERROR_VARIABLE errors
    RESULT_VARIABLE result)
  if(result EQUAL 0) # it lists what it has filtered out, too
    set(report "")
  elseif(NOT result MATCHES "^[0-9]+$")
    message(FATAL_ERROR "${ABIDIFF}: ${result}")
  else()
    # Bits 1 and 2 are abidiff's own failures, 4 and 8 changes of the ABI.
    math(EXPR failed "${result} & 3")
    if(failed)
      message(FATAL_ERROR "${ABIDIFF} failed (${result}): ${report}${errors}")
    endif()
  endif()
  set(${out} "${report}" PARENT_SCOPE)
endfunction()
