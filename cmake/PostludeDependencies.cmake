# Finds everything Postlude builds on. Included once, by the top CMakeLists.txt.
#
# Always:                      Kokkos::kokkos, Kokkos::kokkoskernels, nlohmann_json::nlohmann_json
# POSTLUDE_ENABLE_ONEDNN:      PostludeOneDNN::dnnl; with AUTO, only where it is found
# POSTLUDE_BUILD_CLI or _PERF: CLI11::CLI11, fmt::fmt
# POSTLUDE_BUILD_TESTS:        postlude_catch2 (Catch2 without its main) and catch_discover_tests()
#
# An installed package is found the usual way (CMAKE_PREFIX_PATH, Kokkos_ROOT, ...). In Postlude's
# own build, what cmake/dependencies.sh has built is found without being named.

include(FetchContent)
if(POLICY CMP0135)
  cmake_policy(SET CMP0135 NEW) # what is unpacked carries the time of unpacking
endif()

set(POSTLUDE_MINIMUM_KOKKOS 3.4.01)

# ---- Pinned upstream releases, for POSTLUDE_FETCH_DEPENDENCIES -----------------------------------

# Release archives with their SHA-256 where upstream publishes an archive; elsewhere the full commit
# id of the release, which is a hash of its content too.
function(postlude_fetch_kokkos)
  if(NOT POSTLUDE_FETCH_KOKKOS_BACKENDS_CHOSEN)
    # Kokkos enables nothing but Serial by itself.
    if(NOT DEFINED Kokkos_ENABLE_OPENMP AND NOT DEFINED Kokkos_ENABLE_CUDA AND NOT DEFINED Kokkos_ENABLE_THREADS)
      set(Kokkos_ENABLE_OPENMP ON CACHE BOOL "Kokkos's OpenMP backend")
    endif()
    set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "Kokkos's Serial backend")
    set(POSTLUDE_FETCH_KOKKOS_BACKENDS_CHOSEN ON CACHE INTERNAL "")
  endif()
  set(KokkosKernels_ENABLE_ALL_COMPONENTS OFF CACHE BOOL "Everything of Kokkos Kernels")
  set(KokkosKernels_ENABLE_COMPONENT_BLAS ON CACHE BOOL "Kokkos Kernels' dense BLAS")
  set(KokkosKernels_INST_FLOAT ON CACHE BOOL "Instantiate Kokkos Kernels for float")
  set(KokkosKernels_INST_DOUBLE ON CACHE BOOL "Instantiate Kokkos Kernels for double")
  if(NOT Kokkos_ENABLE_CUDA)
    set(KokkosKernels_ENABLE_TPL_BLAS ON CACHE BOOL "Let Kokkos Kernels call the system's BLAS")
    set(KokkosKernels_ENABLE_TPL_LAPACK OFF CACHE BOOL "Let Kokkos Kernels call the system's LAPACK")
  endif()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON) # they end up inside a shared library
  set(BUILD_SHARED_LIBS OFF)
  FetchContent_Declare(
    kokkos
    URL https://github.com/kokkos/kokkos/releases/download/4.6.01/kokkos-4.6.01.tar.gz
    URL_HASH SHA256=b9d70e4653b87a06dbb48d63291bf248058c7c7db4bd91979676ad5609bb1a3a)
  FetchContent_Declare(
    kokkos-kernels
    URL https://github.com/kokkos/kokkos-kernels/releases/download/4.6.01/kokkos-kernels-4.6.01.tar.gz
    URL_HASH SHA256=95b9357f37ab3b9c3913c00741acb2501831c28ea8664de67818ae79c69c5908)
  FetchContent_MakeAvailable(kokkos)
  # Kokkos Kernels, too, asks how the Kokkos it finds was built.
  get_directory_property(Kokkos_DEVICES DIRECTORY "${kokkos_SOURCE_DIR}" DEFINITION KOKKOS_ENABLED_DEVICES)
  FetchContent_MakeAvailable(kokkos-kernels)
  set(Kokkos_VERSION 4.6.01 PARENT_SCOPE)
  set(Kokkos_DEVICES "${Kokkos_DEVICES}" PARENT_SCOPE)
endfunction()

# The small libraries are taken from the system where it has them.
function(postlude_fetch name repository commit)
  message(STATUS "Postlude: fetching ${name}")
  set(FETCHCONTENT_QUIET OFF)
  set(JSON_BuildTests OFF)
  FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${commit})
  FetchContent_MakeAvailable(${name})
  set(${name}_SOURCE_DIR "${${name}_SOURCE_DIR}" PARENT_SCOPE)
endfunction()

function(postlude_require name package)
  if(NOT ${name}_FOUND)
    message(
      FATAL_ERROR
        "Postlude needs ${name}, and it was not found.\n"
        "On Debian: apt-get install ${package}, or run cmake/dependencies.sh --tests. Elsewhere: name "
        "its place with -D${name}_ROOT=<prefix>, or configure with -DPOSTLUDE_FETCH_DEPENDENCIES=ON.")
  endif()
endfunction()

# ---- Kokkos and Kokkos Kernels -------------------------------------------------------------------

if(TARGET Kokkos::kokkos AND TARGET Kokkos::kokkoskernels)
  # The project that Postlude is a part of brought its own.
elseif(POSTLUDE_FETCH_DEPENDENCIES)
  postlude_fetch_kokkos()
else()
  # No version here: Kokkos's packages accept a request for their own major version only, and any
  # release from 3.4.01 on will do.
  find_package(Kokkos CONFIG QUIET)
  if(NOT Kokkos_FOUND AND PROJECT_IS_TOP_LEVEL)
    execute_process(
      COMMAND bash "${PROJECT_SOURCE_DIR}/cmake/dependencies.sh" --prefix
      OUTPUT_VARIABLE postlude_built_prefix
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(EXISTS "${postlude_built_prefix}/complete")
      list(APPEND CMAKE_PREFIX_PATH "${postlude_built_prefix}")
      find_package(Kokkos CONFIG QUIET)
    endif()
  endif()
  if(Kokkos_FOUND)
    find_package(KokkosKernels CONFIG QUIET HINTS "${Kokkos_DIR}/../../..")
  endif()
  foreach(name IN ITEMS Kokkos KokkosKernels)
    if(NOT ${name}_FOUND)
      message(
        FATAL_ERROR
          "Postlude needs ${name} ${POSTLUDE_MINIMUM_KOKKOS} or newer, and it was not found.\n"
          "On Debian 12: run cmake/dependencies.sh, then configure again. Elsewhere: name its place with "
          "-DCMAKE_PREFIX_PATH=<prefix>, or configure with -DPOSTLUDE_FETCH_DEPENDENCIES=ON.")
    endif()
  endforeach()
  if(Kokkos_VERSION VERSION_LESS POSTLUDE_MINIMUM_KOKKOS)
    message(FATAL_ERROR "Postlude needs Kokkos ${POSTLUDE_MINIMUM_KOKKOS} or newer; ${Kokkos_DIR} is ${Kokkos_VERSION}.")
  endif()
  message(STATUS "Postlude: Kokkos ${Kokkos_VERSION} (${Kokkos_DEVICES}) in ${Kokkos_DIR}")
endif()

# ---- oneDNN, for the engine of that name ---------------------------------------------------------

# It shares its threads with Kokkos. A build with CUDA computes on the device, and need not depend on it.
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
set(postlude_has_onednn OFF)
set(postlude_onednn_obstacle "")
set(postlude_onednn_advice "Configure with ")
if(NOT "OPENMP" IN_LIST Kokkos_DEVICES)
  set(postlude_onednn_obstacle "Kokkos has no OpenMP")
elseif(POSTLUDE_ENABLE_ONEDNN STREQUAL "AUTO" AND "CUDA" IN_LIST Kokkos_DEVICES)
  set(postlude_onednn_obstacle "Kokkos has CUDA")
elseif(POSTLUDE_ENABLE_ONEDNN)
  find_package(PostludeOneDNN MODULE QUIET)
  if(NOT PostludeOneDNN_FOUND)
    set(postlude_onednn_obstacle "oneDNN 2 or 3 with OpenMP's threads was not found")
    if(PostludeOneDNN_OBSTACLE)
      set(postlude_onednn_obstacle "of the oneDNN in ${PostludeOneDNN_INCLUDE_DIR}: ${PostludeOneDNN_OBSTACLE}")
    endif()
    set(postlude_onednn_advice
        "On Debian: apt-get install libdnnl-dev. Elsewhere: name its place with -DoneDNN_ROOT=<prefix>, or configure with ")
  endif()
endif()
if(NOT POSTLUDE_ENABLE_ONEDNN)
  # Left out.
elseif(NOT postlude_onednn_obstacle)
  set(postlude_has_onednn ON)
  message(STATUS "Postlude: engine onednn with oneDNN ${PostludeOneDNN_VERSION} in ${PostludeOneDNN_LIBRARY}")
elseif(POSTLUDE_ENABLE_ONEDNN STREQUAL "AUTO")
  message(STATUS "Postlude: no engine onednn, since ${postlude_onednn_obstacle}")
else()
  message(
    FATAL_ERROR
      "POSTLUDE_ENABLE_ONEDNN is ${POSTLUDE_ENABLE_ONEDNN}, but ${postlude_onednn_obstacle}.\n"
      "${postlude_onednn_advice}-DPOSTLUDE_ENABLE_ONEDNN=OFF.")
endif()

# ---- JSON, for Plan::explain_json and the programs -----------------------------------------------

if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json CONFIG QUIET)
  if(NOT nlohmann_json_FOUND AND POSTLUDE_FETCH_DEPENDENCIES) # v3.11.3
    postlude_fetch(nlohmann_json https://github.com/nlohmann/json.git 9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03)
  elseif(NOT nlohmann_json_FOUND)
    postlude_require(nlohmann_json nlohmann-json3-dev)
  endif()
endif()

# ---- The postlude command and the performance suite ----------------------------------------------

if(POSTLUDE_BUILD_CLI OR POSTLUDE_BUILD_PERF)
  find_package(CLI11 CONFIG QUIET)
  find_package(fmt CONFIG QUIET)
  if(POSTLUDE_FETCH_DEPENDENCIES)
    if(NOT CLI11_FOUND) # v2.4.2
      postlude_fetch(cli11 https://github.com/CLIUtils/CLI11.git 6c7b07a878ad834957b98d0f9ce1dbe0cb204fc9)
    endif()
    if(NOT fmt_FOUND) # 11.1.4
      postlude_fetch(fmt https://github.com/fmtlib/fmt.git 123913715afeb8a437e6388b4473fcc4753e1c9a)
    endif()
  else()
    postlude_require(CLI11 libcli11-dev)
    postlude_require(fmt libfmt-dev)
  endif()
endif()

# ---- Catch2 --------------------------------------------------------------------------------------

if(POSTLUDE_BUILD_TESTS)
  find_package(Catch2 3 CONFIG QUIET)
  if(NOT Catch2_FOUND)
    find_package(Catch2 2 CONFIG QUIET)
  endif()
  if(NOT Catch2_FOUND AND POSTLUDE_FETCH_DEPENDENCIES) # v3.7.1
    postlude_fetch(catch2 https://github.com/catchorg/Catch2.git fa43b77429ba76c462b1898d6cd2f2d7a9416b14)
    list(APPEND CMAKE_MODULE_PATH "${catch2_SOURCE_DIR}/extras")
  elseif(NOT Catch2_FOUND)
    postlude_require(Catch2 catch2)
  else()
    message(STATUS "Postlude: Catch2 ${Catch2_VERSION}")
  endif()
  # In both major versions this target comes without a main.
  add_library(postlude_catch2 INTERFACE)
  target_link_libraries(postlude_catch2 INTERFACE Catch2::Catch2)
  include(Catch)
endif()
