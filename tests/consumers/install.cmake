# cmake -DBUILD=... -DCONFIG=... -DPREFIX=... -P install.cmake
#
# Installs the build tree, and moves what was installed: an installed tree works wherever it is.

cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}.first")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${PREFIX}.first"
                        COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${PREFIX}.first" "${PREFIX}")
