# Spack's recipe for Postlude, for Spack 1.0 or newer. Nothing is released yet, so that there is no
# archive to download: build what is checked out. With this file as packages/postlude/package.py in a
# repository of your own (`spack repo create`), in the folder of the sources:
#
#   spack dev-build postlude@main +openmp
#   spack dev-build postlude@main +cuda cuda_arch=90
#
# The test packages.spack_recipe runs this file without Spack; with Spack it has not been run.

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Postlude(CMakePackage, CudaPackage):
    """Linear layers with fused epilogues, out = epilogue(x w^T, operands...), on every Kokkos
    backend, from C++, C, Fortran, Julia and the shell."""

    license("Apache-2.0")

    version("main", branch="main")

    variant("shared", default=False, description="Build the C++ library as a shared one; the C library always is")
    variant("openmp", default=True, description="Run on OpenMP")
    variant("onednn", default=False, description="Build the GEMM engine onednn, on oneDNN")
    variant("fortran", default=False, description="Build the Fortran module")
    variant("tests", default=False, description="Build the tests")
    conflicts("cuda_arch=none", when="+cuda", msg="name the device: cuda_arch=90")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")

    # Both end up inside the C library, which is shared.
    depends_on("kokkos@3.4.01: +serial+pic")
    depends_on("kokkos-kernels@3.4.01: scalars=float,double layouts=left")
    depends_on("kokkos+openmp", when="+openmp")
    depends_on("kokkos-kernels+openmp", when="+openmp")
    depends_on("kokkos-kernels+blas", when="~cuda")
    depends_on("kokkos@4.6: +cuda", when="+cuda")
    depends_on("kokkos+cuda_lambda", when="+cuda ^kokkos@:4")
    depends_on("kokkos+wrapper", when="+cuda %gcc")
    depends_on("kokkos-kernels+cuda+cublas", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        depends_on(f"kokkos-kernels cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")

    depends_on("onednn@2:3 cpu_runtime=omp", when="+onednn")
    conflicts("+onednn", when="~openmp", msg="oneDNN's threads are those of Kokkos's OpenMP")

    # The command.
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("fmt")

    depends_on("catch2@2.13:", when="+tests")
    depends_on("python@3.9:", type="build", when="+tests")
    depends_on("py-numpy", type="build", when="+tests")
    depends_on("pkgconfig", type="build", when="+tests")

    def cmake_args(self):
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("POSTLUDE_BUILD_CAPI", True),
            self.define("POSTLUDE_BUILD_CLI", True),
            self.define_from_variant("POSTLUDE_BUILD_FORTRAN", "fortran"),
            self.define_from_variant("POSTLUDE_BUILD_TESTS", "tests"),
            self.define("POSTLUDE_BUILD_PERF", False),
            self.define("POSTLUDE_BUILD_EXAMPLES", False),
            self.define("POSTLUDE_BUILD_DOCS", False),
            self.define_from_variant("POSTLUDE_ENABLE_ONEDNN", "onednn"),
            self.define("POSTLUDE_FETCH_DEPENDENCIES", False),
            # Spack's compilers choose the processor.
            self.define("POSTLUDE_NATIVE", False),
            self.define("POSTLUDE_INSTALL", True),
            self.define("Kokkos_ROOT", self.spec["kokkos"].prefix),
            self.define("KokkosKernels_ROOT", self.spec["kokkos-kernels"].prefix),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        return args
