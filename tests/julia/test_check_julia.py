#!/usr/bin/env python3
"""The checker against broken packages: a check that cannot fail is none.

    test_check_julia.py PACKAGE POSTLUDE_H C_COMPILER VERSION

Each test breaks a copy of the package, or of the header, in one place, and expects the fault to be named.
"""

import pathlib
import shutil
import sys
import tempfile
import unittest

from check_julia import faults

PACKAGE, HEADER, COMPILER, VERSION = None, None, None, None
RAW = "src/LibPostlude.jl"


class BrokenPackages(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="postlude-julia-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.package = self.folder / "Postlude"
        shutil.copytree(PACKAGE, self.package)
        self.header = self.folder / "postlude.h"
        shutil.copy(HEADER, self.header)

    def faults(self, version=None):
        return faults(self.package, self.header, COMPILER, version or VERSION)

    @staticmethod
    def replace(path, old, new):
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{path} has no '{old}' that could be broken"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def expect(self, *parts, version=None):
        """One fault has all of the parts."""
        found = self.faults(version)
        self.assertTrue(
            any(all(part in line for part in parts) for line in found), "\n".join(found)
        )

    def broken(self, file, old, new, *parts):
        self.replace(self.package / file, old, new)
        self.expect(*parts)

    def broken_header(self, old, new, *parts):
        self.replace(self.header, old, new)
        self.expect(*parts)

    def test_the_package_as_it_is_has_no_fault(self):
        self.assertEqual(self.faults(), [])

    # ---- Syntax --------------------------------------------------------------------------------------

    def test_a_missing_end(self):
        self.broken(
            "src/errors.jl", "    message::String\nend", "    message::String\n", "syntax error"
        )

    def test_a_missing_parenthesis(self):
        self.broken("src/plan.jl", "length(declarations),", "length(declarations,", "syntax error")

    def test_an_unfinished_string(self):
        self.broken("src/errors.jl", '"PostludeError (", ', '"PostludeError (, ', "syntax error")

    # ---- Constants -----------------------------------------------------------------------------------

    def test_a_wrong_value(self):
        self.broken(
            RAW,
            "POSTLUDE_OVERLAP = Int32(7)",
            "POSTLUDE_OVERLAP = Int32(8)",
            "POSTLUDE_OVERLAP is 8: expected 7",
        )

    def test_a_constant_of_another_type(self):
        self.broken(
            RAW,
            "POSTLUDE_ROW = Int32(2)",
            "POSTLUDE_ROW = Int64(2)",
            "POSTLUDE_ROW is None: expected 2",
        )

    def test_a_missing_constant(self):
        self.broken(
            RAW, "const POSTLUDE_SHARED = Int32(3)\n", "", "POSTLUDE_SHARED is None: expected 3"
        )

    def test_a_constant_too_many(self):
        self.broken(
            RAW,
            "const POSTLUDE_HOST",
            "const POSTLUDE_DISK = Int32(4)\nconst POSTLUDE_HOST",
            "POSTLUDE_DISK is 4",
        )

    def test_a_new_enumerator_in_the_header(self):
        self.broken_header(
            "POSTLUDE_INT64 = 5", "POSTLUDE_INT64 = 5, POSTLUDE_INT8 = 6", "POSTLUDE_INT8 is None"
        )

    def test_an_enumerator_renumbered_in_the_header(self):
        self.broken_header(
            "POSTLUDE_SCALAR = 1,", "POSTLUDE_SCALAR = 9,", "POSTLUDE_SCALAR is 1: expected 9"
        )

    def test_an_alias_of_another_type(self):
        self.broken(
            RAW,
            "const postlude_dtype = Int32",
            "const postlude_dtype = Int64",
            "postlude_dtype is Int64",
        )

    # ---- Structs -------------------------------------------------------------------------------------

    def test_fields_in_another_order(self):
        self.broken(
            RAW,
            "    data::Ptr{Cvoid}\n    dtype::postlude_dtype\n",
            "    dtype::postlude_dtype\n    data::Ptr{Cvoid}\n",
            "struct postlude_tensor has its fields at",
        )

    def test_fields_of_one_type_in_another_order(self):
        self.broken(
            RAW,
            "    extent::NTuple{3,Int64}\n    stride::NTuple{3,Int64}\n",
            "    stride::NTuple{3,Int64}\n    extent::NTuple{3,Int64}\n",
            "struct postlude_tensor has the fields",
        )

    def test_a_field_of_another_size(self):
        self.broken(
            RAW,
            "extent::NTuple{3,Int64}",
            "extent::NTuple{4,Int64}",
            "struct postlude_tensor has 88 bytes",
        )

    def test_a_field_of_another_type_of_the_same_size(self):
        self.broken(
            RAW, "scalar::Cdouble", "scalar::Int64", "struct postlude_operand_value has the fields"
        )

    def test_a_missing_field(self):
        self.broken(RAW, "    reserved::Int32\n", "", "struct postlude_tensor has the fields")

    def test_a_field_without_a_type(self):
        self.broken(
            RAW, "    reserved::Int32\n", "    reserved\n", "struct postlude_tensor has the fields"
        )

    def test_a_new_field_in_the_header(self):
        self.broken_header(
            "  int32_t threads; ",
            "  int64_t more;\n  int32_t threads; ",
            "struct postlude_context_options has 32 bytes",
        )

    def test_a_new_struct_in_the_header(self):
        self.broken_header(
            "/** A backend, device",
            "typedef struct postlude_new { size_t size; } postlude_new;\n/** A backend, device",
            "struct postlude_new is only in the header",
        )

    # ---- Calls of the C library ----------------------------------------------------------------------

    def test_a_misspelt_function(self):
        self.broken(
            RAW,
            "symbol(:postlude_plan_work)",
            "symbol(:postlude_plan_wrok)",
            "postlude_plan_wrok is no function",
        )

    def test_a_function_without_a_ccall(self):
        self.broken(
            RAW,
            "postlude_abi_version() = ccall(symbol(:postlude_abi_version), Int32, ())\n",
            "",
            "postlude_abi_version has 0",
        )

    def test_a_wrong_result(self):
        self.broken(
            RAW,
            "ccall(symbol(:postlude_version), Int32",
            "ccall(symbol(:postlude_version), Int64",
            "returns Int64",
        )

    def test_a_wrong_type_of_argument(self):
        self.broken(
            RAW,
            "(Ptr{postlude_context}, Csize_t, Ptr",
            "(Ptr{postlude_context}, Int32, Ptr",
            "postlude_allocate takes",
        )

    def test_a_missing_type_of_argument(self):
        self.broken(
            RAW,
            "Cdouble, Ptr{postlude_check_result}, Csize_t)",
            "Cdouble, Csize_t)",
            "postlude_check takes",
        )

    def test_one_type_that_is_no_tuple(self):
        self.broken(
            RAW,
            "Cstring, (postlude_status,), status",
            "Cstring, (postlude_status), status",
            "not of the form",
        )

    def test_a_missing_argument(self):
        self.broken(
            RAW,
            "    destination,\n    source,\n    bytes,\n",
            "    destination,\n    source,\n",
            "postlude_copy_to_backend is given",
        )

    def test_arguments_in_another_order(self):
        self.broken(
            RAW,
            "    gemm_flops,\n    minimum_bytes,\n",
            "    minimum_bytes,\n    gemm_flops,\n",
            "postlude_plan_work is given",
        )

    def test_parameters_in_another_order(self):
        self.broken(
            RAW,
            "postlude_execute(plan, bindings, stream)",
            "postlude_execute(bindings, plan, stream)",
            "is called by",
        )

    def test_a_new_function_in_the_header(self):
        self.broken_header(
            "/** The same for a contiguous",
            "POSTLUDE_API int32_t postlude_new(void);\n/** The same for a contiguous",
            "postlude_new has 0 ccalls",
        )

    def test_another_argument_in_the_header(self):
        self.broken_header(
            "postlude_plan_destroy(postlude_plan *plan)",
            "postlude_plan_destroy(postlude_plan *plan, int32_t n)",
            "postlude_plan_destroy takes",
        )

    def test_a_ccall_elsewhere(self):
        self.broken(
            "src/errors.jl",
            "status_name(status) =",
            'f() = ccall(:puts, Cint, (Cstring,), "")\nstatus_name(status) =',
            "a ccall outside",
        )

    # ---- The rest of the package ---------------------------------------------------------------------

    def test_a_name_that_the_raw_module_does_not_have(self):
        self.broken(
            "src/plan.jl",
            "LibPostlude.POSTLUDE_SCALAR",
            "LibPostlude.POSTLUDE_SCALER",
            "POSTLUDE_SCALER is not defined",
        )

    def test_a_struct_with_a_missing_value(self):
        self.broken(
            "src/arrays.jl",
            "        memory_space(root(array)),\n",
            "",
            "postlude_tensor has 7 arguments: expected 8",
        )

    def test_a_call_with_a_missing_argument(self):
        self.broken(
            "src/plan.jl",
            "postlude_execute(plan.handle, bindings, stream)",
            "postlude_execute(plan.handle, bindings)",
            "postlude_execute has 2 arguments",
        )

    def test_a_call_that_preserves_nothing(self):
        self.broken(
            "src/context.jl",
            "GC.@preserve context check(",
            "check(",
            "postlude_context_synchronize is called outside GC.@preserve",
        )

    def test_a_status_that_nobody_looks_at(self):
        self.broken(
            "src/context.jl",
            "check(LibPostlude.postlude_context_create(options, handle))",
            "LibPostlude.postlude_context_create(options, handle)",
            "the status of postlude_context_create is not checked",
        )

    def test_a_misspelt_variable(self):
        self.broken(
            "src/plan.jl",
            "append!(plan.results, results_of(plan))",
            "append!(plan.results, result_off(plan))",
            "result_off is not defined",
        )

    def test_a_misspelt_macro(self):
        self.broken("src/context.jl", "GC.@preserve", "GC.@presrve", "@presrve is not defined")

    def test_a_missing_docstring(self):
        self.broken(
            "src/errors.jl",
            "struct PostludeError",
            "const nothing_here = 1\nstruct PostludeError",
            "PostludeError is exported and has no docstring",
        )

    def test_a_file_that_is_not_included(self):
        self.broken("src/Postlude.jl", 'include("plan.jl")\n', "", "plan.jl is not included")

    def test_an_undeclared_dependency(self):
        self.broken(
            RAW,
            "using Libdl: Libdl",
            "using Libdl: Libdl\nusing Dates: Dates",
            "Dates is not among the dependencies",
        )

    # ---- Project.toml --------------------------------------------------------------------------------

    def test_another_version(self):
        self.expect("version is", version="99.1.0")

    def test_no_uuid(self):
        self.broken("Project.toml", 'uuid = "', 'uuid = "x', "the UUID of uuid is none")

    def test_an_extension_without_a_file(self):
        self.broken(
            "Project.toml",
            "PostludeCUDAExt =",
            "PostludeHIPExt =",
            "there is no ext/PostludeHIPExt.jl",
        )

    def test_a_trigger_that_is_no_weak_dependency(self):
        self.broken(
            "Project.toml",
            'PostludeCUDAExt = "CUDA"',
            'PostludeCUDAExt = "AMDGPU"',
            "AMDGPU, which is not in weakdeps",
        )


if __name__ == "__main__":
    PACKAGE, HEADER, COMPILER, VERSION = sys.argv[1:5]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
