"""Runs cmake/spack/package.py with a stand-in for Spack, for each value of its variants:

    check_spack_recipe.py RECIPE CMAKELISTS

What it passes to CMake has to be options that CMAKELISTS has, or CMake's own; every variant it
refers to is its own or one of CudaPackage's; and no option of ours is forgotten. That Spack itself
takes the recipe is not tested.
"""

import itertools
import re
import sys
import types

CMAKE_VARIABLES = {"BUILD_SHARED_LIBS", "CMAKE_CXX_COMPILER", "Kokkos_ROOT", "KokkosKernels_ROOT"}

faults = []
variants = {}  # name: default
conditions = []  # every `when=`
dependencies = {}  # name: everything said of it
versions = {}


class CudaPackage:
    cuda_arch_values = ("70", "80", "90")


class Anything:
    """Takes the place of spec["kokkos"] and self["kokkos"]."""

    prefix = "/prefix"
    kokkos_cxx = "nvcc_wrapper"


class Spec:
    def __init__(self, values):
        self.values = values

    def satisfies(self, text):
        sign, name = text[0], text[1:]
        if sign not in "+~" or name not in self.values:
            raise ValueError(f"satisfies({text!r}) names no variant")
        return self.values[name] == (sign == "+")

    def __getitem__(self, name):
        if name not in dependencies:
            raise KeyError(f"spec[{name!r}] is no dependency")
        return Anything()


class CMakePackage:
    def __init__(self, values):
        self.spec = Spec(values)

    def __getitem__(self, name):
        return self.spec[name]

    def define(self, option, value):
        return option, value

    def define_from_variant(self, option, name):
        return option, self.spec.values[name]


def variant(name, default, description):
    variants[name] = default


def depends_on(spec, type=("build", "link"), when=""):
    dependencies.setdefault(re.match(r"[a-z0-9-]+", spec)[0], []).append(spec)
    conditions.append(when)


def conflicts(spec, when="", msg=None):
    conditions.append(when)


def version(name, **source):
    versions[name] = source


def license(name):
    pass


def stand_in(name, **content):
    module = types.ModuleType(name)
    module.__dict__.update(content)
    sys.modules[name] = module


stand_in("spack")
stand_in("spack.package", variant=variant, depends_on=depends_on, conflicts=conflicts, version=version, license=license)
stand_in("spack_repo")
stand_in("spack_repo.builtin")
stand_in("spack_repo.builtin.build_systems")
stand_in("spack_repo.builtin.build_systems.cmake", CMakePackage=CMakePackage)
stand_in("spack_repo.builtin.build_systems.cuda", CudaPackage=CudaPackage)

recipe_file, cmakelists_file = sys.argv[1:]
with open(recipe_file, encoding="utf-8") as file:
    recipe = {}
    exec(compile(file.read(), recipe_file, "exec"), recipe)
with open(cmakelists_file, encoding="utf-8") as file:
    options = set(re.findall(r"^(?:option|set)\((\w+) (?:\"|AUTO CACHE )", file.read(), re.MULTILINE))

flags = sorted(variants) + ["cuda"]
for missing in {"shared", "openmp", "tests"} - set(variants):
    faults.append(f"there is no variant {missing}")
for missing in {"kokkos", "kokkos-kernels", "cmake"} - set(dependencies):
    faults.append(f"there is no dependency {missing}")
for condition in conditions:
    for name in re.findall(r"[+~](\w+)", condition):
        if name not in flags:
            faults.append(f"when={condition!r} names no variant")

passed = set()
for values in itertools.product([False, True], repeat=len(flags)):
    for option, _ in recipe["Postlude"](dict(zip(flags, values))).cmake_args():
        passed.add(option)
for option in sorted(passed - options - CMAKE_VARIABLES):
    faults.append(f"CMakeLists.txt has no option {option}")
for option in sorted(options - passed):
    faults.append(f"the recipe leaves the option {option} to chance")
for name, source in versions.items():
    if name != "main" and "sha256" not in source:
        faults.append(f"version {name} has no sha256")

print(f"{len(options)} options, {len(variants)} variants, {len(dependencies)} dependencies")
sys.exit("\n".join(faults) or 0)
