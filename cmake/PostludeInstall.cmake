# Install rules, in components: `runtime` (shared libraries under their SONAMEs: what programs need to run), `cpp`, `c`,
# `fortran` and `julia` (what is needed to build such programs, with `runtime`), `cli` (the command).
# Exported names equal the names inside the tree: Postlude::postlude, Postlude::capi and Postlude::capi_static.

include(CMakePackageConfigHelpers)

set(postlude_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Postlude")

# ---- C++ -----------------------------------------------------------------------------------------

install(
  TARGETS postlude
  EXPORT PostludeCppTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT cpp
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT cpp
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT cpp)
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/include/postlude" "${PROJECT_BINARY_DIR}/include/postlude"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT cpp
  FILES_MATCHING PATTERN "*.hpp")
if(TARGET postlude_c_static) # needs the C++ library's dependencies, and so its export set
  install(TARGETS postlude_c_static EXPORT PostludeCppTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT cpp)
endif()
if(postlude_has_onednn) # which the archives are linked with
  cmake_path(GET PostludeOneDNN_LIBRARY PARENT_PATH postlude_onednn_folder)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/FindPostludeOneDNN.cmake" DESTINATION "${postlude_package_dir}" COMPONENT cpp)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/FindPostludeOneDNN.cmake" "${PROJECT_BINARY_DIR}/FindPostludeOneDNN.cmake"
                 COPYONLY) # beside the package file of the build tree
endif()
install(EXPORT PostludeCppTargets NAMESPACE Postlude:: DESTINATION "${postlude_package_dir}" COMPONENT cpp)
export(EXPORT PostludeCppTargets NAMESPACE Postlude:: FILE "${PROJECT_BINARY_DIR}/PostludeCppTargets.cmake")

# ---- C -------------------------------------------------------------------------------------------

if(TARGET postlude_c)
  install(
    TARGETS postlude_c
    EXPORT PostludeCTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT c
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT c
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT c)
  install(FILES "${PROJECT_SOURCE_DIR}/capi/include/postlude.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT c)
  install(EXPORT PostludeCTargets NAMESPACE Postlude:: DESTINATION "${postlude_package_dir}" COMPONENT c)
  export(EXPORT PostludeCTargets NAMESPACE Postlude:: FILE "${PROJECT_BINARY_DIR}/PostludeCTargets.cmake")

  # For build systems other than CMake. The folders follow the .pc file, so that a tree can be moved.
  file(RELATIVE_PATH postlude_pc_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  string(REGEX REPLACE "/$" "" postlude_pc_to_prefix "${postlude_pc_to_prefix}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/postlude.pc.in" "${PROJECT_BINARY_DIR}/postlude.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/postlude.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT c)
endif()

# ---- Fortran and Julia ---------------------------------------------------------------------------

if(TARGET postlude_fortran)
  install(
    TARGETS postlude_fortran
    EXPORT PostludeFortranTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT fortran)
  get_target_property(postlude_modules postlude_fortran Fortran_MODULE_DIRECTORY)
  install(
    FILES "${postlude_modules}/postlude.mod" "${postlude_modules}/postlude_c.mod"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/postlude/fortran"
    COMPONENT fortran)
  install(EXPORT PostludeFortranTargets NAMESPACE Postlude:: DESTINATION "${postlude_package_dir}" COMPONENT fortran)
  export(EXPORT PostludeFortranTargets NAMESPACE Postlude:: FILE "${PROJECT_BINARY_DIR}/PostludeFortranTargets.cmake")
endif()
if(TARGET postlude_c)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/capi/julia/Postlude" DESTINATION "${CMAKE_INSTALL_DATADIR}/postlude/julia"
          COMPONENT julia)
endif()

# ---- The command ---------------------------------------------------------------------------------

if(TARGET postlude_cli)
  file(RELATIVE_PATH postlude_bin_to_lib "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(postlude_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${postlude_bin_to_lib}")
  install(TARGETS postlude_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT cli)
endif()

# ---- The package ---------------------------------------------------------------------------------

get_target_property(postlude_library_type postlude TYPE)
if(postlude_library_type STREQUAL "SHARED_LIBRARY")
  set(POSTLUDE_CPP_IS_SHARED ON) # the C library then needs it beside itself
else()
  set(POSTLUDE_CPP_IS_SHARED OFF)
endif()
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/PostludeConfig.cmake.in" "${PROJECT_BINARY_DIR}/PostludeConfig.cmake"
  INSTALL_DESTINATION "${postlude_package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/PostludeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
foreach(component IN ITEMS cpp c fortran)
  install(
    FILES "${PROJECT_BINARY_DIR}/PostludeConfig.cmake" "${PROJECT_BINARY_DIR}/PostludeConfigVersion.cmake"
    DESTINATION "${postlude_package_dir}"
    COMPONENT ${component})
endforeach()
