# cmake -DPROGRAM=... -P error_stop.cmake
#
# The program has to end with an error and the library's message, and not go on after the call.

cmake_minimum_required(VERSION 3.22)

execute_process(
  COMMAND "${PROGRAM}"
  RESULT_VARIABLE result
  OUTPUT_VARIABLE output
  ERROR_VARIABLE error)
if(result EQUAL 0 OR output MATCHES "went on")
  message(FATAL_ERROR "The program went on after an error without stat= (exit status ${result}):\n${output}${error}")
endif()
if(NOT error MATCHES "postlude: x has shape \\(3,5\\) and w has shape \\(7,4\\)")
  message(FATAL_ERROR "The message is missing:\n${error}")
endif()
