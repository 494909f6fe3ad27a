# cmake -DCPACK=... -DBUILD=... -DCONFIG=... -DPACKAGES=... -P make.cmake

cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE "${PACKAGES}") # packages of another version would be taken for these
execute_process(COMMAND "${CPACK}" --config "${BUILD}/CPackConfig.cmake" -C "${CONFIG}" -B "${PACKAGES}"
                        COMMAND_ERROR_IS_FATAL ANY)
