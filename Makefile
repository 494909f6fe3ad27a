# The commands of a fresh Debian 12 machine; `make help` says more. Everything else is CMake's:
# see CMakePresets.json.

BUILD_DIR ?= build/make
# make hands its own variables to recipes, but not to $(shell).
PREFIX := $(shell POSTLUDE_DEPENDENCIES="$(POSTLUDE_DEPENDENCIES)" cmake/dependencies.sh --prefix)

# Named outright, so that a build tree follows when the dependencies move.
CONFIGURE = cmake -G Ninja -S . -B "$(BUILD_DIR)" -DCMAKE_BUILD_TYPE=Release -DPOSTLUDE_NATIVE=ON \
  -DKokkos_DIR="$(PREFIX)/lib/cmake/Kokkos" -DKokkosKernels_DIR="$(PREFIX)/lib/cmake/KokkosKernels"

help:
	@echo "make demo    install what is missing, build the postlude command, run the main job"
	@echo "make test    install what is missing, build everything, run every test"
	@echo "make perf    install what is missing, build the performance suite, measure its short version"
	@echo "make clean   remove the build tree ($(BUILD_DIR)); the dependencies stay"
	@echo
	@echo "BUILD_DIR              the build tree            (now: $(BUILD_DIR))"
	@echo "POSTLUDE_DEPENDENCIES  folder of Kokkos and Kokkos Kernels, built once (now: $(dir $(PREFIX)))"
	@echo "A build that failed for lack of memory: make ... CMAKE_BUILD_PARALLEL_LEVEL=1"

# Building only what the command needs leaves the tests' targets alone.
demo:
	@cmake/dependencies.sh
	@echo "demo: configuring in $(BUILD_DIR)"
	@$(CONFIGURE) -DPOSTLUDE_BUILD_TESTS=OFF -DPOSTLUDE_BUILD_PERF=OFF -DPOSTLUDE_BUILD_EXAMPLES=OFF
	@echo "demo: building the postlude command"
	@cmake --build "$(BUILD_DIR)" --target postlude_cli
	@examples/demo/run.sh "$(abspath $(BUILD_DIR))/bin/postlude"

test:
	@cmake/dependencies.sh --tests
	@echo "test: configuring in $(BUILD_DIR)"
	@$(CONFIGURE) -DPOSTLUDE_BUILD_TESTS=ON -DPOSTLUDE_BUILD_PERF=ON -DPOSTLUDE_BUILD_EXAMPLES=ON
	@echo "test: building"
	@cmake --build "$(BUILD_DIR)"
	@echo "test: running"
	@ctest --test-dir "$(BUILD_DIR)" --output-on-failure --no-tests=error

# The short version, in $(BUILD_DIR)/perf-results: under 5 minutes on two cores once it is built.
perf:
	@cmake/dependencies.sh --tests
	@echo "perf: configuring in $(BUILD_DIR)"
	@$(CONFIGURE) -DPOSTLUDE_BUILD_TESTS=OFF -DPOSTLUDE_BUILD_PERF=ON -DPOSTLUDE_BUILD_EXAMPLES=OFF
	@echo "perf: building the suite"
	@cmake --build "$(BUILD_DIR)" --target postlude_perf_suite
	@perf/run.sh "$(abspath $(BUILD_DIR))/bin/postlude_perf_suite" --size short --output "$(BUILD_DIR)/perf-results"

clean:
	cmake -E rm -rf "$(BUILD_DIR)"

.PHONY: help demo test perf clean
