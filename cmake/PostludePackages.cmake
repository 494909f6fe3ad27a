# What `cpack` makes of the install rules, in the build tree, once it is built:
#
#   postlude-<version>-<system>-<processor>.tar.gz   everything; works wherever it is unpacked
#   libpostlude-c<major>_<version>_<arch>.deb        the C library, which several versions of may be installed
#   libpostlude-dev_...deb                           headers, the C++ library, the Fortran modules, the Julia package
#   postlude_...deb                                  the command
#
# Debian's packages are made where there is dpkg.

set(runtime_package libpostlude-c${PROJECT_VERSION_MAJOR})
set(development_package libpostlude-dev)
set(command_package postlude)

set(CPACK_PACKAGE_NAME postlude)
set(CPACK_PACKAGE_VENDOR "Postlude")
if(NOT DEFINED CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "Postlude maintainers <postlude@example.org>")
endif()
set(CPACK_PACKAGE_FILE_NAME postlude-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

find_program(postlude_dpkg NAMES dpkg)
find_program(postlude_dpkg_shlibdeps NAMES dpkg-shlibdeps)
find_program(postlude_file NAMES file)
mark_as_advanced(postlude_dpkg postlude_dpkg_shlibdeps postlude_file)
set(CPACK_GENERATOR TGZ)
if(postlude_dpkg AND TARGET postlude_c)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME postlude-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES "/\\.git" "/build/" "/\\.cache/")

# ---- Debian packages -----------------------------------------------------------------------------

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtime_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "The C library. It computes linear layers whose results pass through an expression, such as min(y + bias, c) - c.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME ${development_package})
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "Headers and libraries for C, C++, Fortran and Julia. The C++ library needs the Kokkos and Kokkos Kernels that it was built with; the others need neither.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME ${command_package})
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
    "The command. It runs, checks, explains and measures linear layers with fused epilogues on arrays in .npy files.")

# With the very library that they were built with: nothing before 1.0 promises more.
foreach(group IN ITEMS DEVELOPMENT COMMAND)
  set(CPACK_DEBIAN_${group}_PACKAGE_DEPENDS "${runtime_package} (= ${PROJECT_VERSION})")
endforeach()

# What programs are linked with that use an archive instead of a shared library, as far as Debian has it.
if(postlude_has_onednn)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS libdnnl-dev)
endif()

# The packages of the libraries that ours are linked with. A CUDA driver's libraries are in no
# package that a machine without a GPU could name: there the dependencies are left to who installs.
if(TARGET postlude_c AND postlude_dpkg_shlibdeps AND postlude_file AND NOT Kokkos_ENABLE_CUDA)
  get_target_property(c_library_folder postlude_c BINARY_DIR)
  get_target_property(cpp_library_folder postlude BINARY_DIR)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${c_library_folder}" "${cpp_library_folder}")
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
endif()

# Debian wants the licence in every package.
function(postlude_install_copyright component package)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}"
          COMPONENT ${component} RENAME copyright)
endfunction()
postlude_install_copyright(cpp ${development_package})
if(TARGET postlude_c)
  postlude_install_copyright(runtime ${runtime_package})
endif()
if(TARGET postlude_cli)
  postlude_install_copyright(cli ${command_package})
endif()

# ---- A build for one processor -------------------------------------------------------------------

if(POSTLUDE_NATIVE)
  set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_BINARY_DIR}/PostludePackageWarning.cmake")
  file(WRITE "${CPACK_PROJECT_CONFIG_FILE}"
       "message(WARNING \"This was built with POSTLUDE_NATIVE=ON: the packages may not run on other processors.\")\n")
endif()

include(CPack)
cpack_add_component(runtime GROUP runtime)
foreach(component IN ITEMS cpp c fortran julia)
  cpack_add_component(${component} GROUP development)
endforeach()
cpack_add_component(cli GROUP command)
cpack_add_component_group(runtime DESCRIPTION "${CPACK_COMPONENT_RUNTIME_DESCRIPTION}")
cpack_add_component_group(development DESCRIPTION "${CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION}")
cpack_add_component_group(command DESCRIPTION "${CPACK_COMPONENT_COMMAND_DESCRIPTION}")
