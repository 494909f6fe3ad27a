# PostludeOneDNN::dnnl, oneDNN 2 or 3 for processors, whose threads are OpenMP's: Kokkos's too, where both were compiled
# for one runtime of OpenMP. PostludeOneDNN_OBSTACLE says what is wrong with one that is there.
#
# Not by oneDNN's own package file: Debian's asks for the headers of OpenCL, which nothing here includes. An installed
# Postlude that was built with oneDNN brings this file along. oneDNN_ROOT or the environment's DNNLROOT name its place.

# A project without a language does not know what files of libraries are called.
set(postlude_onednn_places "${oneDNN_ROOT}" "$ENV{DNNLROOT}" ${postlude_onednn_hints})
find_path(PostludeOneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp HINTS ${postlude_onednn_places} PATH_SUFFIXES include)
find_library(PostludeOneDNN_LIBRARY NAMES dnnl libdnnl.so HINTS ${postlude_onednn_places} PATH_SUFFIXES lib)
mark_as_advanced(PostludeOneDNN_INCLUDE_DIR PostludeOneDNN_LIBRARY)

set(PostludeOneDNN_VERSION "")
set(PostludeOneDNN_OBSTACLE "")
if(PostludeOneDNN_INCLUDE_DIR)
  set(postlude_onednn_version "")
  file(STRINGS "${PostludeOneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" postlude_onednn_lines
       REGEX "^#define DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  foreach(line IN LISTS postlude_onednn_lines)
    string(REGEX REPLACE ".* " "" line "${line}")
    list(APPEND postlude_onednn_version "${line}")
  endforeach()
  list(JOIN postlude_onednn_version "." PostludeOneDNN_VERSION)
  file(STRINGS "${PostludeOneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_config.h" postlude_onednn_threads
       REGEX "^#define DNNL_CPU_THREADING_RUNTIME +DNNL_RUNTIME_OMP")
  if(PostludeOneDNN_VERSION VERSION_LESS 2 OR PostludeOneDNN_VERSION VERSION_GREATER_EQUAL 4)
    set(PostludeOneDNN_OBSTACLE "it is ${PostludeOneDNN_VERSION}, not 2 or 3")
  elseif(NOT postlude_onednn_threads)
    set(PostludeOneDNN_OBSTACLE "its threads are not OpenMP's")
  endif()
endif()
set(postlude_onednn_is_usable ON)
if(PostludeOneDNN_OBSTACLE)
  set(postlude_onednn_is_usable OFF)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  PostludeOneDNN
  REQUIRED_VARS PostludeOneDNN_LIBRARY PostludeOneDNN_INCLUDE_DIR postlude_onednn_is_usable
  VERSION_VAR PostludeOneDNN_VERSION REASON_FAILURE_MESSAGE "${PostludeOneDNN_OBSTACLE}")

if(PostludeOneDNN_FOUND AND NOT TARGET PostludeOneDNN::dnnl)
  add_library(PostludeOneDNN::dnnl UNKNOWN IMPORTED GLOBAL)
  set_target_properties(
    PostludeOneDNN::dnnl PROPERTIES IMPORTED_LOCATION "${PostludeOneDNN_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                                  "${PostludeOneDNN_INCLUDE_DIR}")
endif()
