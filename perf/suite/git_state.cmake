# Writes a header that names the commit of a source tree and says whether the tree has changes:
#   cmake -DSOURCE=<source tree> -DOUTPUT=<header> -P git_state.cmake
set(commit "unknown")
set(changed "false")
find_program(git git)
if(git)
  execute_process(
    COMMAND "${git}" -C "${SOURCE}" rev-parse HEAD
    OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE status)
  if(status EQUAL 0)
    execute_process(
      COMMAND "${git}" -C "${SOURCE}" status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changes
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(changes)
      set(changed "true")
    endif()
  else()
    set(commit "unknown")
  endif()
endif()
set(text "#define POSTLUDE_GIT_COMMIT \"${commit}\"\n#define POSTLUDE_GIT_CHANGED ${changed}\n")
# An unchanged file keeps its time, and nothing is compiled again.
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
