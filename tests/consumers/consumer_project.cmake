# Tests that build somebody else's project; for the folders consumers and packages.

set(toolchain "-DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
              "-DCMAKE_C_FLAGS=${CMAKE_C_FLAGS}" "-DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}")
set(kokkos "-DKokkos_DIR=${Kokkos_DIR}" "-DKokkosKernels_DIR=${KokkosKernels_DIR}")
set(no_kokkos -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON -DCMAKE_DISABLE_FIND_PACKAGE_KokkosKernels=ON)

get_target_property(library_type postlude TYPE)
if(library_type STREQUAL "SHARED_LIBRARY")
  set(no_kokkos ${kokkos}) # the C library then links the C++ one
endif()

get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME) # of the tests, and their label

function(postlude_set_consumer_properties name)
  set_tests_properties(${name} PROPERTIES LABELS ${folder} TIMEOUT 300)
  if(Kokkos_ENABLE_CUDA) # initialising Kokkos takes a device then
    set_property(TEST ${name} APPEND PROPERTY LABELS cuda)
  endif()
endfunction()

# postlude_add_consumer(NAME SOURCE PROGRAM OPTION...): configures and builds the project in SOURCE
# and runs its PROGRAM.
function(postlude_add_consumer name source program)
  add_test(
    NAME ${folder}.${name}
    COMMAND
      "${CMAKE_CTEST_COMMAND}" --build-and-test "${source}" "${CMAKE_CURRENT_BINARY_DIR}/${name}"
      --build-generator "${CMAKE_GENERATOR}" --build-makeprogram "${CMAKE_MAKE_PROGRAM}" --build-noclean
      --build-options ${toolchain} ${ARGN}
      --test-command ${program})
  postlude_set_consumer_properties(${folder}.${name})
endfunction()
